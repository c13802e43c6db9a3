//! Large pieces of memory in huge pages, where the system has them: fewer faults, fewer lookups.

/// Ask for huge pages behind `memory`, which should not have been written yet. Nothing but time
/// depends on it.
pub(crate) fn advise<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 1 << 21;
        let range = memory.as_mut_ptr_range();
        let start = range.start.addr().next_multiple_of(HUGE);
        let len = (range.end.addr() & !(HUGE - 1)).saturating_sub(start);
        if len > 0 {
            let address = range.start.with_addr(start);
            // SAFETY: The range lies within `memory`, and the advice changes no contents.
            unsafe { libc::madvise(address.cast(), len, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
