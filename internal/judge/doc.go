// Package judge decides what each hint of a tool is worth, from the calls that
// were made and the effects that were seen. It is pure: the same evidence gives
// the same verdicts, without a clock, files or the network.
//
// An observation can refute a claim, never prove it. A claim is therefore only
// believed when it was put to the test: by calls that took effect, whose
// silence means something (nothing they tried was refused, the server was alive
// and settled), with the arguments most likely to break it. Evidence against a
// claim counts wherever it appears, in failing and dying calls too. Everything
// between the two is untested, and the reason says what was missing.
//
// The order of work is MarkIncidental over all tools, which needs to see them
// beside each other, then Tool for each.
package judge
