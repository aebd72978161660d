package sandbox

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// wait describes a call in which a thread sleeps until something wakes it.
type wait struct {
	timeout int // argument number, from 0, of the time-out; 0 when it has none
	unit    timeoutUnit
}

type timeoutUnit int

const (
	forever  timeoutUnit = iota
	millis               // an int of milliseconds, negative for ever
	timespec             // a pointer to a relative struct timespec, null for ever
	timeval              // a pointer to a relative struct timeval, null for ever
	sleep                // a pointer to the time to sleep: something will happen
	futex                // as the operation in argument 1 says
)

var waits = map[int]wait{
	unix.SYS_READ: {}, unix.SYS_READV: {}, unix.SYS_ACCEPT: {}, unix.SYS_ACCEPT4: {},
	unix.SYS_RECVFROM: {}, unix.SYS_RECVMSG: {}, unix.SYS_WAIT4: {}, unix.SYS_WAITID: {},
	unix.SYS_RT_SIGSUSPEND:   {},
	unix.SYS_RT_SIGTIMEDWAIT: {timeout: 2, unit: timespec},
	unix.SYS_PSELECT6:        {timeout: 4, unit: timespec},
	unix.SYS_PPOLL:           {timeout: 2, unit: timespec},
	unix.SYS_EPOLL_PWAIT:     {timeout: 3, unit: millis},
	unix.SYS_EPOLL_PWAIT2:    {timeout: 3, unit: timespec},
	unix.SYS_NANOSLEEP:       {timeout: 0, unit: sleep},
	unix.SYS_CLOCK_NANOSLEEP: {timeout: 2, unit: sleep},
	unix.SYS_FUTEX:           {timeout: 3, unit: futex},
}

// sample is one look at every thread of the world.
type sample struct {
	busy    string        // what is going on, "" when every thread sleeps
	ran     uint64        // nanoseconds that all threads have run
	threads int           //
	timer   time.Duration // the nearest time-out; 0 when there is none
}

// looks are this far apart: two equal ones make quiet.
const betweenLooks = 2 * time.Millisecond

// A timer is looked at again after half of its time, but not more often than
// quiet needs and not so late that its end is missed for long.
const longestPause = 25 * time.Millisecond

// Settle waits until every program of the world sleeps with nothing pending
// inside the horizon: two looks in a row see all threads waiting and no time
// spent between them.
func (w *World) Settle(ctx context.Context, o SettleOptions) Settled {
	start := time.Now()
	var last sample
	quiet := false
	var longest, busy time.Duration
	for {
		now := w.look()
		elapsed := time.Since(start)
		ticked := o.Ticking > 0 && elapsed >= o.Ticking
		pending := now.timer > 0 && now.timer <= o.Horizon && !ticked
		switch {
		case now.busy != "":
			quiet = false
			busy += betweenLooks
		case pending:
			quiet, longest = false, max(longest, now.timer)
		case quiet && now.ran == last.ran && now.threads == last.threads:
			s := Settled{OK: true, Ticking: longest}
			if now.timer > o.Horizon {
				s.Pending = now.timer
			}
			return s
		default:
			quiet, last = true, now
		}
		switch {
		case !w.Alive():
			return Settled{Why: ErrGone.Error()}
		case ctx.Err() != nil:
			return Settled{Why: ctx.Err().Error()}
		case elapsed > o.Max:
			// What a timer starts is seen now and then, too.
			if longest > 0 && busy <= elapsed/4 {
				return Settled{Why: fmt.Sprintf("a timer of %s kept running", longest.Round(time.Millisecond)), Ticking: longest}
			}
			return Settled{Why: cmp.Or(now.busy, "something ran now and then")}
		}
		pause := betweenLooks
		if pending {
			pause = min(max(now.timer/2, betweenLooks), longestPause)
		}
		time.Sleep(pause)
	}
}

func (w *World) look() sample {
	var s sample
	for _, pid := range descendants(w.init.Process.Pid) {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			s.thread(pid, task.Name())
			if s.busy != "" {
				return s
			}
		}
	}
	return s
}

func (s *sample) thread(pid int, tid string) {
	dir := fmt.Sprintf("/proc/%d/task/%s/", pid, tid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return // ended meanwhile
	}
	name, state := parseStat(string(stat))
	if state == "Z" || state == "X" {
		return
	}
	s.threads++
	if schedule, err := os.ReadFile(dir + "schedstat"); err == nil {
		ran, _, _ := strings.Cut(string(schedule), " ")
		n, _ := strconv.ParseUint(ran, 10, 64)
		s.ran += n
	}
	if state != "S" {
		s.busy = fmt.Sprintf("%s was running", name)
		return
	}
	call, err := os.ReadFile(dir + "syscall")
	switch {
	case errors.Is(err, unix.ESRCH) || errors.Is(err, os.ErrNotExist) && gone(dir):
		return
	case err != nil:
		s.busy = fmt.Sprintf("%s can't be watched: %v", name, err)
		return
	}
	timer, ok := pendingTimer(pid, strings.Fields(string(call)))
	if !ok {
		s.busy = fmt.Sprintf("%s was in the middle of a system call", name)
		return
	}
	if timer > 0 && (s.timer == 0 || timer < s.timer) {
		s.timer = timer
	}
}

func gone(dir string) bool {
	_, err := os.Stat(dir)
	return err != nil
}

// parseStat reads the name and the state out of proc_pid_stat(5).
func parseStat(stat string) (name, state string) {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open || end+2 >= len(stat) {
		return "", ""
	}
	return stat[open+1 : end], stat[end+2 : end+3]
}

// pendingTimer reads how long a sleeping thread will sleep at most: 0 for ever.
// ok is false when it does not wait but works inside the kernel.
func pendingTimer(pid int, call []string) (timer time.Duration, ok bool) {
	if len(call) < 7 {
		return 0, false // running
	}
	number, err := strconv.Atoi(call[0])
	if err != nil {
		return 0, false
	}
	w, known := waits[number]
	if !known {
		w, known = legacyWaits[number]
	}
	if !known {
		return 0, false
	}
	argument := func(i int) uint64 {
		v, _ := strconv.ParseUint(strings.TrimPrefix(call[1+i], "0x"), 16, 64)
		return v
	}
	switch w.unit {
	case millis:
		ms := int32(argument(w.timeout))
		if ms < 0 {
			return 0, true
		}
		return max(time.Duration(ms)*time.Millisecond, 1), true
	case timespec:
		return readTime(pid, argument(w.timeout), time.Nanosecond), true
	case timeval:
		return readTime(pid, argument(w.timeout), time.Microsecond), true
	case sleep:
		return max(sleepLeft(pid, number, argument), 1), true
	case futex:
		return futexLeft(pid, argument), true
	}
	return 0, true
}

// readTime reads a pair of seconds and a fraction; null is for ever, 0 here.
func readTime(pid int, at uint64, fraction time.Duration) time.Duration {
	if at == 0 {
		return 0
	}
	var pair [16]byte
	local := []unix.Iovec{{Base: &pair[0]}}
	local[0].SetLen(len(pair))
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(pair)}}, 0)
	if err != nil || n != len(pair) {
		return time.Millisecond // it can't be told: look again soon
	}
	seconds := int64(binary.NativeEndian.Uint64(pair[:8]))
	parts := int64(binary.NativeEndian.Uint64(pair[8:]))
	if seconds > int64(time.Hour/time.Second)*1000 {
		return 0
	}
	return max(time.Duration(seconds)*time.Second+time.Duration(parts)*fraction, 1)
}

const absoluteTime = 1 // TIMER_ABSTIME

func sleepLeft(pid, number int, argument func(int) uint64) time.Duration {
	if number == unix.SYS_NANOSLEEP {
		return readTime(pid, argument(0), time.Nanosecond)
	}
	left := readTime(pid, argument(2), time.Nanosecond)
	if argument(1)&absoluteTime != 0 {
		left -= clock(argument(0) == unix.CLOCK_REALTIME)
	}
	return left
}

// futexLeft reads the time-out of a futex(2) wait: relative for FUTEX_WAIT,
// absolute for the others.
func futexLeft(pid int, argument func(int) uint64) time.Duration {
	const (
		command    = 0x7f // without the private and clock flags
		futexWait  = 0
		clockReal  = 256
		lockPI     = 6
		waitBitset = 9
	)
	operation := argument(1)
	left := readTime(pid, argument(3), time.Nanosecond)
	if left == 0 {
		return 0
	}
	switch operation & command {
	case futexWait:
		return left
	case waitBitset:
		return max(left-clock(operation&clockReal != 0), 1)
	case lockPI:
		return max(left-clock(true), 1)
	}
	return left
}

func clock(real bool) time.Duration {
	id := int32(unix.CLOCK_MONOTONIC)
	if real {
		id = unix.CLOCK_REALTIME
	}
	var now unix.Timespec
	if unix.ClockGettime(id, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// descendants lists the processes below pid, depth first. Orphans of a sandbox
// become children of its first process, so none is missed.
func descendants(pid int) []int {
	var found []int
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(field); err == nil {
				found = append(append(found, n), descendants(n)...)
			}
		}
	}
	return found
}

// MappedFiles lists files that a program of the world maps shared and writable:
// a store through such a map may change neither size nor time.
func (w *World) MappedFiles() map[string]bool {
	found := map[string]bool{}
	for _, pid := range descendants(w.init.Process.Pid) {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(maps), "\n") {
			fields := strings.Fields(line)
			if len(fields) >= 6 && strings.HasPrefix(fields[1], "rw") && strings.HasSuffix(fields[1], "s") {
				found[fields[5]] = true
			}
		}
	}
	return found
}
