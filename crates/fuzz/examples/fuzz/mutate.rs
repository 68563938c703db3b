//! Random changes to bytes that know of lines, words and numbers.

use consonant_testing::Random;

/// Pieces that readers have opinions about.
const TELLING: &[&[u8]] = &[
    b"\n",
    b"\n\n",
    b"\r\n",
    b"\t",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b" ",
    b"#",
    b"-",
    b".",
    b"|",
    b"=",
    b"_",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\\ud800",
    b"null",
    b"true",
    b"O",
    b"B-X",
    b"I-X",
    b"-DOCSTART-",
    b"4-3",
    b"1.1",
    b"0:root",
    b"0",
    b"-1",
    b"1",
    b"2",
    b"255",
    b"65536",
    b"4294967295",
    b"4294967296",
    b"18446744073709551615",
    b"99999999999999999999",
    b"1e308",
    b"1e999",
    b"-1e-320",
    b"nan",
    b"inf",
    b"-inf",
    b"0.5",
    b"\xe2\x80\xae",
    b"\xed\xa0\x80",
    b"<=",
    b">=",
    b"!",
];

/// Changes some bytes of `data` once to a few times; `other` may lend pieces.
pub fn mutate(data: &mut Vec<u8>, other: &[u8], random: &mut Random, most: usize) {
    for _ in 0..1 + random.below(4) {
        step(data, other, random);
        data.truncate(most);
    }
}

fn range(data: &[u8], random: &mut Random, most: usize) -> std::ops::Range<usize> {
    let start = random.below(data.len() + 1);
    start..(start + random.below(most + 1)).min(data.len())
}

/// A piece between two separators.
fn piece(data: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let at = random.below(data.len() + 1);
    let is_separator: fn(&u8) -> bool = match random.below(3) {
        0 => |byte| *byte == b'\n',
        1 => u8::is_ascii_whitespace,
        _ => |byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b'-'),
    };
    let start = data[..at].iter().rposition(is_separator).map_or(0, |at| at + 1);
    let end =
        data[at..].iter().position(is_separator).map_or(data.len(), |length| at + length + 1).min(data.len());
    start..end
}

fn step(data: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let telling = TELLING[random.below(TELLING.len())];
    match random.below(12) {
        0 if !data.is_empty() => {
            let at = random.below(data.len());
            data[at] ^= 1 << random.below(8);
        }
        1 if !data.is_empty() => {
            let at = random.below(data.len());
            data[at] = random.below(256) as u8;
        }
        2 => drop(data.drain(range(data, random, 32))),
        3 => drop(data.drain(piece(data, random))),
        4 => drop(data.splice(range(data, random, 1), telling.iter().copied())),
        5 => drop(data.splice(piece(data, random), telling.iter().copied())),
        6 => {
            let (from, to) = (piece(data, random), random.below(data.len() + 1));
            let copy = data[from].to_vec();
            data.splice(to..to, copy);
        }
        7 => {
            let (from, to) = (piece(data, random), piece(data, random));
            let copy = data[from].to_vec();
            data.splice(to, copy);
        }
        8 => {
            let (from, to) = (piece(other, random), piece(data, random));
            data.splice(to, other[from].iter().copied());
        }
        9 => data.truncate(random.below(data.len() + 1)),
        10 => {
            let at = random.below(data.len() + 1);
            let copy = data[piece(data, random)].repeat(1 + random.below(20));
            data.splice(at..at, copy);
        }
        _ => {
            let (start, end) = (random.below(other.len() + 1), random.below(data.len() + 1));
            data.truncate(end);
            data.extend_from_slice(&other[start..]);
        }
    }
}
