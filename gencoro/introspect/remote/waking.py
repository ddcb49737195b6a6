"""Wakes up a thread that waits in a system call, without sending it a signal.

Python runs a script of `sys.remote_exec` between two instructions, or when a call of the
system was interrupted.  So a loop that waits for events would run it only after the next
event.  What a debugger does when it attaches interrupts ``epoll_wait``; sleeping and
polling would be resumed by the kernel, unless the debugger has them return ``EINTR``.
Python continues all of these calls itself after that (PEP 475).

Linux only; sleeping and polling on x86-64 only.
"""

import contextlib
import ctypes
import os
import platform
import sys
import time

__all__ = ["Waker"]

# Of <linux/ptrace.h> and <linux/elf.h>.
GET_REGISTERS, SET_REGISTERS, GENERAL_REGISTERS = 0x4204, 0x4205, 1
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WAIT_FOR_THREADS = 0x40000000
EVENT_STOP = 128

# How long to wait for a thread to stop.
STOPPING_S = 0.1

# The registers of x86-64 (struct user_regs_struct): how many, and which of them have the
# result of a system call and its number.
REGISTERS, RESULT, CALL = 27, 10, 15

# poll, select, nanosleep, clock_nanosleep, pselect6 and ppoll: those that only wait.  A
# library in C that reads or writes may take EINTR for an error.
WAITING_CALLS = {7, 23, 35, 230, 270, 271}

# Results by which the kernel knows calls that it is to resume (ERESTARTSYS,
# ERESTARTNOHAND, ERESTART_RESTARTBLOCK), and what the program is to see instead.
RESUMED = {-512, -514, -516}
EINTR = -4


class _Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Waker:
    """Interrupts the system call in which a thread waits, as often as is needed.

    Args:
        thread: Its number in the system; that of a main thread is that of its process.
    """

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._is_attached = False

    def wake_up(self) -> None:
        """Interrupt the thread if it waits; do nothing if that is not possible."""
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                self._attach()
                self._interrupt()

    def _attach(self) -> None:
        """Attach as a debugger.  If we are killed, the kernel continues the thread."""
        if not self._is_attached:
            _ptrace(SEIZE, self._thread)
            self._is_attached = True
            _ptrace(INTERRUPT, self._thread)

    def _interrupt(self) -> None:
        until = time.monotonic() + STOPPING_S
        while time.monotonic() < until:
            stopped, status = os.waitpid(self._thread, WAIT_FOR_THREADS | os.WNOHANG)
            if stopped:
                self._detach(status)
                return
            time.sleep(0.001)
        # It is in a call that nothing interrupts, such as one to a disk, or waits for the
        # processor.  It is looked at again next time.

    def _detach(self, status: int) -> None:
        self._is_attached = False
        signum = 0
        try:
            if status >> 16 != EVENT_STOP:  # a signal that came just now: pass it on
                signum = os.WSTOPSIG(status)
            elif platform.machine() == "x86_64" and sys.maxsize > 2**32:
                _interrupt_waiting(self._thread)
        finally:
            _ptrace(DETACH, self._thread, data=signum)


def _interrupt_waiting(thread: int) -> None:
    registers = (ctypes.c_longlong * REGISTERS)()
    vector = _Vector(ctypes.addressof(registers), ctypes.sizeof(registers))
    _ptrace(GET_REGISTERS, thread, GENERAL_REGISTERS, ctypes.addressof(vector))
    if registers[CALL] in WAITING_CALLS and registers[RESULT] in RESUMED:
        registers[RESULT] = EINTR
        _ptrace(SET_REGISTERS, thread, GENERAL_REGISTERS, ctypes.addressof(vector))


def _ptrace(request: int, thread: int, address: int = 0, data: int = 0) -> None:
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    ptrace.restype = ctypes.c_long
    if ptrace(request, thread, address, data) == -1:
        raise OSError(ctypes.get_errno(), "ptrace")
