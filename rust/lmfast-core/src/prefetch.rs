//! Asking for memory before it is read.

/// Ask for the cache line that `item` begins in. Nothing but time depends on it.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    prefetch_address(std::ptr::from_ref(item));
}

/// Ask for that of `items[index]`, wherever it is.
#[inline(always)]
pub(crate) fn prefetch_item<T>(items: &[T], index: usize) {
    prefetch_address(items.as_ptr().wrapping_add(index));
}

#[inline(always)]
fn prefetch_address<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: A prefetch of any address has no effect that a program can see.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: A prefetch of any address has no effect that a program can see.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
