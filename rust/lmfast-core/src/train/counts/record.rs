//! Records of pretokens and counts in a stream, sorted by pretoken.
//!
//! A record is how many bytes the pretoken shares with the one before, how many follow, these
//! bytes, and the count: numbers are LEB128, seven bits a byte, the lowest first. Nothing follows
//! only in the record that ends the stream.

use std::io::{self, BufRead, Read, Write};

/// Bytes that are collected before they are handed on.
const BUFFER_BYTES: usize = 32 << 10;

pub(super) struct RecordWriter<W> {
    out: W,
    buffer: Vec<u8>,
    last: Vec<u8>,
}

impl<W: Write> RecordWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, buffer: Vec::with_capacity(BUFFER_BYTES + 64), last: Vec::new() }
    }

    /// Write a pretoken that is greater than the one before.
    pub(super) fn write(&mut self, pretoken: &[u8], count: u64) -> io::Result<()> {
        debug_assert!(pretoken > self.last.as_slice());
        let shared = self.last.iter().zip(pretoken).take_while(|(a, b)| a == b).count();
        let rest = &pretoken[shared..];
        self.last.truncate(shared);
        self.last.extend_from_slice(rest);
        push_number(&mut self.buffer, shared as u64);
        push_number(&mut self.buffer, rest.len() as u64);
        if rest.len() > BUFFER_BYTES {
            self.flush()?;
            self.out.write_all(rest)?;
        } else {
            self.buffer.extend_from_slice(rest);
        }
        push_number(&mut self.buffer, count);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// End the stream.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.buffer.extend_from_slice(&[0, 0]);
        self.flush()?;
        Ok(self.out)
    }
}

fn push_number(buffer: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        buffer.push(number as u8 | 0x80);
        number >>= 7;
    }
    buffer.push(number as u8);
}

pub(super) struct RecordReader<R> {
    input: io::BufReader<R>,
    pretoken: Vec<u8>,
}

impl<R: Read> RecordReader<R> {
    pub(super) fn new(input: R) -> Self {
        let input = io::BufReader::with_capacity(BUFFER_BYTES, input);
        Self { input, pretoken: Vec::new() }
    }

    /// The pretoken that was read last.
    pub(super) fn pretoken(&self) -> &[u8] {
        &self.pretoken
    }

    /// Read the next pretoken; its count, or `None` at the end of the stream.
    pub(super) fn read(&mut self) -> io::Result<Option<u64>> {
        let shared = self.number()? as usize;
        let rest = self.number()?;
        if rest == 0 {
            let ends = shared == 0 && self.input.fill_buf()?.is_empty();
            return if ends { Ok(None) } else { Err(unsound("an end that is none")) };
        }
        let last = self.pretoken.get(shared).copied();
        if shared > self.pretoken.len() {
            return Err(unsound("a pretoken longer than its record"));
        }
        self.pretoken.truncate(shared);
        // The length is not to be trusted: only what is there takes memory.
        let read = self.input.by_ref().take(rest).read_to_end(&mut self.pretoken)?;
        if read as u64 != rest {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if last.is_some_and(|last| last >= self.pretoken[shared]) {
            return Err(unsound("pretokens out of order"));
        }
        match self.number()? {
            0 => Err(unsound("a pretoken that never occurs")),
            count => Ok(Some(count)),
        }
    }

    fn number(&mut self) -> io::Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let mut byte = [0];
            self.input.read_exact(&mut byte)?;
            let bits = u64::from(byte[0] & 0x7f);
            if shift > 63 || bits << shift >> shift != bits {
                return Err(unsound("a number beyond 64 bits"));
            }
            number |= bits << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    /// What is read from.
    pub(super) fn get_mut(&mut self) -> &mut R {
        self.input.get_mut()
    }
}

fn unsound(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
