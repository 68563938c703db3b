//! Loops compiled for the machine's vectors.
//!
//! Such a loop is written once in plain Rust. On x86-64 it is compiled a second time with AVX2, and that is picked
//! where the processor has it. Nothing fuses multiplication and addition, so both give the same bits; with
//! `CONSONANT_SIMD=off` in the environment the first is taken everywhere, which is how that is tested.

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// Whether twins with AVX2 are taken.
#[cfg(target_arch = "x86_64")]
pub static HAS_AVX2: LazyLock<bool> = LazyLock::new(|| {
    std::env::var_os("CONSONANT_SIMD").is_none_or(|wish| wish != "off")
        && std::arch::is_x86_feature_detected!("avx2")
});

/// Defines a function of the crate with a twin for AVX2 that is chosen at run time. Generics stand in square brackets. What
/// the function calls has a twin, too, where it is inlined.
#[macro_export]
macro_rules! vectorized {
    ($(#[$meta:meta])* fn $name:ident$([$($generics:tt)*])?($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        #[inline]
        #[allow(unsafe_code)]
        pub(crate) fn $name$(<$($generics)*>)?($($arg: $type),*) $(-> $ret)? {
            #[inline(always)]
            fn body$(<$($generics)*>)?($($arg: $type),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide$(<$($generics)*>)?($($arg: $type),*) $(-> $ret)? {
                    body($($arg),*)
                }
                if *$crate::vector::HAS_AVX2 {
                    // SAFETY: the processor was seen to have AVX2, the only requirement of `wide`.
                    return unsafe { wide($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}
