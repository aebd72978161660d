package sandbox

var legacyWaits = map[int]wait{}
