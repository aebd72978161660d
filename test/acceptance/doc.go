// Package acceptance holds the built program to what it promises, from outside:
// each test runs ax-check as a user would, in surroundings of its own, and reads
// what it prints and what it leaves behind. All of it runs on Linux, as root and
// as a plain user where that makes a difference.
package acceptance
