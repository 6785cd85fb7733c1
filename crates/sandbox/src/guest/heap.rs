//! The memory of one guest: a region that is handed out piece by piece and dropped as a whole when
//! the call ends.
//!
//! Why not the C library's: a runtime that ran out of memory in the middle of something cannot be
//! freed object by object without tripping over the engine's own assertions; here nothing is freed
//! at the end, the region is just used again. Its first pages stay warm, which makes a fresh
//! runtime cheap. And the limit is ours, so we know when it was hit.
//!
//! Blocks that are given back wait in a list of their size. When twice the limit has been touched
//! that way, larger ones are cut, neighbours that are free are joined, and what still fits nowhere
//! is mapped by itself: a program that goes through many sizes neither takes more nor is refused
//! what it gave back.

use std::ffi::c_void;
use std::ptr;

use rquickjs_sys as qjs;

/// Address space for small blocks. Pages are taken only when they are touched.
const REGION: usize = 512 << 20;
/// What stays resident between calls.
const WARM: usize = 1 << 20;
/// Blocks from here on are mapped one by one, so that growing them moves pages, not bytes.
const LARGE: usize = 128 << 10;
/// In front of every block: its size. The block behind it is aligned to 16.
const HEADER: usize = 8;
/// Before the header of a large block: the links to its neighbours and the length of its mapping.
const LARGE_HEADER: usize = 32;
/// Sizes up to here are rounded to 16, above to an eighth of a power of two.
const FINE: usize = 1024;
const CLASSES: usize = FINE / 16 + 7 * 8;
/// In the header of a block that was given back; sizes are multiples of 16.
const FREE: usize = 1;
/// In the header of a block that is a mapping of its own.
const MAPPED: usize = 2;

/// The guest's memory, and how much of it is in use.
pub(super) struct Heap {
    base: *mut u8,
    /// How much of the region is handed out or waits in a list: whole blocks, one behind the other.
    top: usize,
    /// How far `top` may go.
    most: usize,
    /// How far it went in this call.
    touched: usize,
    /// Bytes that were given back since neighbours were last joined.
    released: usize,
    /// Blocks that were given back, each in the list of the largest class that it can serve.
    free: [*mut Free; CLASSES],
    large: *mut Large,
    live: usize,
    peak: usize,
    limit: usize,
    exceeded: bool,
    witness: Option<Witness>,
}

/// Whom to tell that a block was refused, before the engine hears of it. It must leave the heap
/// alone, which is borrowed then.
pub(super) type Witness = (unsafe fn(*const c_void), *const c_void);

struct Free {
    next: *mut Free,
}

/// Lies at the start of the mapping of a large block.
struct Large {
    next: *mut Large,
    previous: *mut Large,
    length: usize,
}

impl Heap {
    /// Reserves the region; fails if the system has no address space for it.
    pub(super) fn reserve() -> std::io::Result<Heap> {
        let base = map(REGION)?;
        Ok(Heap {
            base,
            top: 0,
            most: REGION,
            touched: 0,
            released: 0,
            free: [ptr::null_mut(); CLASSES],
            large: ptr::null_mut(),
            live: 0,
            peak: 0,
            limit: usize::MAX,
            exceeded: false,
            witness: None,
        })
    }

    /// Bytes in use.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// The most bytes that were in use since the limit was set.
    pub(super) fn peak(&self) -> usize {
        self.peak
    }

    /// Whether a block was refused since the limit was set.
    pub(super) fn exceeded(&self) -> bool {
        self.exceeded
    }

    /// From now on no more than `limit` bytes may be in use, and no more than twice what that
    /// leaves may be touched.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        let room = limit.saturating_sub(self.live).saturating_mul(2);
        self.most = self.top.saturating_add(room).min(REGION);
        self.peak = self.live;
        self.exceeded = false;
    }

    /// Forgets everything that was handed out.
    ///
    /// # Safety
    /// Nothing may use a block of this heap any more.
    pub(super) unsafe fn clear(&mut self) {
        while !self.large.is_null() {
            let block = self.large;
            // SAFETY: the list holds only live mappings, and the caller says that nobody uses them.
            unsafe {
                self.large = (*block).next;
                libc::munmap(block.cast(), (*block).length);
            }
        }
        if self.touched > WARM {
            // SAFETY: the range lies within the region, which is ours; its pages read as zeros from
            // now on.
            unsafe {
                libc::madvise(self.base.add(WARM).cast(), self.touched - WARM, libc::MADV_DONTNEED)
            };
        }
        self.top = 0;
        self.touched = 0;
        self.released = 0;
        self.free = [ptr::null_mut(); CLASSES];
        self.live = 0;
        self.set_limit(usize::MAX);
    }

    /// Names who is told of a refusal, or nobody.
    pub(super) fn set_witness(&mut self, witness: Option<Witness>) {
        self.witness = witness;
    }

    fn refuse(&mut self) -> *mut u8 {
        self.exceeded = true;
        if let Some((tell, of)) = self.witness {
            // SAFETY: whoever named the witness takes it back before it is gone.
            unsafe { tell(of) };
        }
        ptr::null_mut()
    }

    fn allocate(&mut self, size: usize) -> *mut u8 {
        let Some(block) = size.max(8).checked_add(HEADER) else { return self.refuse() };
        if block > LARGE {
            return self.allocate_large(size);
        }
        let (class, block) = class_of(block);
        if block > self.limit.saturating_sub(self.live) {
            return self.refuse();
        }
        let Some(start) = self.place(class, block) else {
            // Below that a page would be mostly waste.
            return if block > FINE { self.allocate_large(size) } else { self.refuse() };
        };
        self.count(block);
        // SAFETY: `start` begins a block of `block` bytes, at least 16.
        unsafe {
            start.cast::<usize>().write(block);
            start.add(HEADER)
        }
    }

    /// Where a block of this class can begin: the fastest way first.
    fn place(&mut self, class: usize, block: usize) -> Option<*mut u8> {
        if let Some(start) = self.reuse(class, block).or_else(|| self.extend(block)) {
            return Some(start);
        }
        let larger = |heap: &mut Heap| (class..CLASSES).find_map(|class| heap.reuse(class, block));
        larger(self).or_else(|| {
            // It takes a walk through all blocks, so there must be something to gain, and much if
            // there is another way.
            let gain = if block > FINE { self.top / 16 } else { block };
            if self.released < gain {
                return None;
            }
            self.join();
            larger(self).or_else(|| self.extend(block))
        })
    }

    /// The last block of a list, cut to what is wanted.
    fn reuse(&mut self, class: usize, block: usize) -> Option<*mut u8> {
        let free = self.free[class];
        if free.is_null() {
            return None;
        }
        // SAFETY: blocks in the list are ours and hold a link behind their header; what is cut off
        // lies within this one.
        unsafe {
            self.free[class] = (*free).next;
            let start = free.cast::<u8>().sub(HEADER);
            let size = start.cast::<usize>().read() & !FREE;
            if size > block {
                self.enlist(start.add(block), size - block);
            }
            Some(start)
        }
    }

    /// A block from the part of the region that is in no use yet.
    fn extend(&mut self, block: usize) -> Option<*mut u8> {
        // One more header at the end, so that blocks and not headers are aligned to 16.
        if self.top + block + HEADER > self.most {
            return None;
        }
        // SAFETY: the range was just found to lie within the region.
        let start = unsafe { self.header(self.top) };
        self.top += block;
        self.touched = self.touched.max(self.top);
        Some(start)
    }

    /// The header of the block at `offset`.
    ///
    /// # Safety
    /// The offset is not beyond `top`, nor `top` at the region's end.
    unsafe fn header(&self, offset: usize) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { self.base.add(offset + HEADER) }
    }

    /// Enters a free block into its list.
    ///
    /// # Safety
    /// `size` bytes from `start`, at least 16, are ours and in no use.
    unsafe fn enlist(&mut self, start: *mut u8, size: usize) {
        let (class, served) = class_of(size.min(LARGE));
        let class = if served > size { class - 1 } else { class };
        // SAFETY: the caller's.
        unsafe {
            start.cast::<usize>().write(size | FREE);
            let free = start.add(HEADER).cast::<Free>();
            free.write(Free { next: self.free[class] });
            self.free[class] = free;
        }
    }

    /// Makes one block of free ones that lie side by side; those at the end go back to what is in
    /// no use yet.
    fn join(&mut self) {
        self.released = 0;
        self.free = [ptr::null_mut(); CLASSES];
        let (mut offset, top) = (0, self.top);
        while offset < top {
            // SAFETY: blocks lie one behind the other up to `top`, and every header tells where the
            // next begins.
            unsafe {
                let start = self.header(offset);
                let mut end = offset;
                while end < top {
                    let size = self.header(end).cast::<usize>().read();
                    if size & FREE == 0 {
                        break;
                    }
                    end += size & !FREE;
                }
                if end == top {
                    self.top = offset;
                    return;
                }
                if end > offset {
                    self.enlist(start, end - offset);
                }
                offset = end + self.header(end).cast::<usize>().read();
            }
        }
    }

    fn allocate_large(&mut self, size: usize) -> *mut u8 {
        let Some(length) = large_length(size) else { return self.refuse() };
        if length > self.limit.saturating_sub(self.live) {
            return self.refuse();
        }
        let Ok(start) = map(length) else { return self.refuse() };
        self.count(length);
        // SAFETY: `start` begins a fresh mapping of `length` bytes.
        unsafe { self.link(start.cast(), length) }
    }

    /// Enters a large block into the list and gives its payload.
    ///
    /// # Safety
    /// `block` begins a mapping of `length` bytes that is in no list.
    unsafe fn link(&mut self, block: *mut Large, length: usize) -> *mut u8 {
        // SAFETY: the caller's; what the list holds is mapped.
        unsafe {
            block.write(Large { next: self.large, previous: ptr::null_mut(), length });
            if !self.large.is_null() {
                (*self.large).previous = block;
            }
            self.large = block;
            let payload = block.cast::<u8>().add(LARGE_HEADER);
            payload.sub(HEADER).cast::<usize>().write(length | MAPPED);
            payload
        }
    }

    /// # Safety
    /// `block` is in the list.
    unsafe fn unlink(&mut self, block: *mut Large) {
        // SAFETY: the caller's; neighbours in the list are mapped.
        unsafe {
            let Large { next, previous, .. } = block.read();
            if previous.is_null() {
                self.large = next;
            } else {
                (*previous).next = next;
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
        }
    }

    /// # Safety
    /// `payload` is null or was handed out by this heap and not given back.
    unsafe fn release(&mut self, payload: *mut u8) {
        if payload.is_null() {
            return;
        }
        // SAFETY: the caller's: a header lies before the payload, and a large one has its links
        // before that.
        unsafe {
            let header = payload.sub(HEADER).cast::<usize>().read();
            let block = header & !MAPPED;
            self.live -= block;
            if header != block {
                let large = payload.sub(LARGE_HEADER).cast::<Large>();
                self.unlink(large);
                libc::munmap(large.cast(), block);
            } else {
                self.released += block;
                self.enlist(payload.sub(HEADER), block);
            }
        }
    }

    /// # Safety
    /// As for `release`.
    unsafe fn reallocate(&mut self, payload: *mut u8, size: usize) -> *mut u8 {
        if payload.is_null() {
            return self.allocate(size);
        }
        // SAFETY: the caller's: `payload` has a header and `usable` bytes; the new block holds at
        // least as many as are copied; a large block that stays large keeps its header at the front
        // when its mapping moves.
        unsafe {
            let header = payload.sub(HEADER).cast::<usize>().read();
            let block = header & !MAPPED;
            let usable = usable_size(payload);
            if header != block && size.saturating_add(HEADER) > LARGE {
                return self.remap(payload, block, size);
            }
            if size <= usable && (block <= 64 || size > usable / 2) {
                return payload;
            }
            let moved = self.allocate(size);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(payload, moved, usable.min(size));
                self.release(payload);
            }
            moved
        }
    }

    /// # Safety
    /// `payload` is that of a large block of `old` bytes.
    unsafe fn remap(&mut self, payload: *mut u8, old: usize, size: usize) -> *mut u8 {
        let Some(length) = large_length(size) else { return self.refuse() };
        if length > old && length - old > self.limit.saturating_sub(self.live) {
            return self.refuse();
        }
        // SAFETY: the caller's: the block is a mapping of its own, in the list until it is unlinked
        // here.
        unsafe {
            let block = payload.sub(LARGE_HEADER).cast::<Large>();
            self.unlink(block);
            let Ok(moved) = grow(block.cast(), old, length) else {
                self.link(block, old);
                return self.refuse();
            };
            self.live -= old;
            self.count(length);
            self.link(moved.cast(), length)
        }
    }

    fn count(&mut self, block: usize) {
        self.live += block;
        self.peak = self.peak.max(self.live);
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: whoever owns the heap drops the runtime in it first; the region is ours alone.
        unsafe {
            self.clear();
            libc::munmap(self.base.cast(), REGION);
        }
    }
}

/// The list a block belongs to, and the size that all its blocks have.
fn class_of(block: usize) -> (usize, usize) {
    if block <= FINE {
        let class = block.div_ceil(16);
        return (class - 1, class * 16);
    }
    // Eight steps between two powers of two.
    let power = usize::BITS - 1 - (block - 1).leading_zeros();
    let step = 1usize << (power - 3);
    let steps = (block - (1 << power)).div_ceil(step);
    let class = FINE / 16 + (power as usize - 10) * 8 + steps - 1;
    (class, (1 << power) + steps * step)
}

fn large_length(size: usize) -> Option<usize> {
    Some(size.checked_add(LARGE_HEADER + 4095)? & !4095)
}

/// # Safety
/// `payload` was handed out by a heap.
unsafe fn usable_size(payload: *const u8) -> usize {
    // SAFETY: the caller's: the size of the block lies before it.
    let header = unsafe { payload.sub(HEADER).cast::<usize>().read() };
    if header & MAPPED == 0 { header - HEADER } else { (header & !MAPPED) - LARGE_HEADER }
}

fn map(length: usize) -> std::io::Result<*mut u8> {
    #[cfg(target_os = "linux")]
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    #[cfg(not(target_os = "linux"))]
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let start = unsafe {
        libc::mmap(ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if start == libc::MAP_FAILED { Err(std::io::Error::last_os_error()) } else { Ok(start.cast()) }
}

/// # Safety
/// `block` begins a mapping of `old` bytes.
#[cfg(target_os = "linux")]
unsafe fn grow(block: *mut u8, old: usize, length: usize) -> std::io::Result<*mut u8> {
    // SAFETY: the caller's.
    let moved = unsafe { libc::mremap(block.cast(), old, length, libc::MREMAP_MAYMOVE) };
    if moved == libc::MAP_FAILED { Err(std::io::Error::last_os_error()) } else { Ok(moved.cast()) }
}

/// # Safety
/// `block` begins a mapping of `old` bytes.
#[cfg(not(target_os = "linux"))]
unsafe fn grow(block: *mut u8, old: usize, length: usize) -> std::io::Result<*mut u8> {
    let moved = map(length)?;
    // SAFETY: the caller's; the new mapping has at least the bytes that are copied.
    unsafe {
        ptr::copy_nonoverlapping(block, moved, old.min(length));
        libc::munmap(block.cast(), old);
    }
    Ok(moved)
}

/// What the engine calls; `opaque` is the heap.
pub(super) const FUNCTIONS: qjs::JSMallocFunctions = qjs::JSMallocFunctions {
    js_calloc: Some(js_calloc),
    js_malloc: Some(js_malloc),
    js_free: Some(js_free),
    js_realloc: Some(js_realloc),
    js_malloc_usable_size: Some(js_usable_size),
};

unsafe extern "C" fn js_calloc(
    opaque: *mut c_void,
    count: qjs::size_t,
    size: qjs::size_t,
) -> *mut c_void {
    // SAFETY: the engine was given a heap as `opaque`, and is not running anywhere else meanwhile.
    let heap = unsafe { &mut *opaque.cast::<Heap>() };
    let Some(bytes) = (count as usize).checked_mul(size as usize) else {
        return heap.refuse().cast();
    };
    let payload = heap.allocate(bytes);
    if !payload.is_null() && bytes + HEADER <= LARGE {
        // SAFETY: the block has at least `bytes` bytes. Fresh mappings are zero already.
        unsafe { ptr::write_bytes(payload, 0, bytes) };
    }
    payload.cast()
}

unsafe extern "C" fn js_malloc(opaque: *mut c_void, size: qjs::size_t) -> *mut c_void {
    // SAFETY: as in `js_calloc`.
    unsafe { (*opaque.cast::<Heap>()).allocate(size as usize).cast() }
}

unsafe extern "C" fn js_free(opaque: *mut c_void, payload: *mut c_void) {
    // SAFETY: as in `js_calloc`; the engine gives back only what it got.
    unsafe { (*opaque.cast::<Heap>()).release(payload.cast()) };
}

unsafe extern "C" fn js_realloc(
    opaque: *mut c_void,
    payload: *mut c_void,
    size: qjs::size_t,
) -> *mut c_void {
    // SAFETY: as in `js_free`.
    unsafe {
        let heap = &mut *opaque.cast::<Heap>();
        if size == 0 {
            heap.release(payload.cast());
            return ptr::null_mut();
        }
        heap.reallocate(payload.cast(), size as usize).cast()
    }
}

unsafe extern "C" fn js_usable_size(payload: *const c_void) -> qjs::size_t {
    if payload.is_null() {
        return 0;
    }
    // SAFETY: the engine asks only about what it got.
    unsafe { usable_size(payload.cast()) as qjs::size_t }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_asked_for() {
        for block in (16..=LARGE).step_by(8) {
            let (class, size) = class_of(block);
            assert!(class < CLASSES && size >= block && size % 16 == 0, "{block}: {class}, {size}");
            assert_eq!(class_of(size), (class, size), "a block finds its list again");
            assert!(block <= 64 || size - block <= block / 4, "{block} wastes {}", size - block);
        }
    }

    /// Fills a block with a byte that tells it from others.
    unsafe fn fill(payload: *mut u8, size: usize, mark: u8) {
        // SAFETY: the caller's.
        unsafe { ptr::write_bytes(payload, mark, size) };
    }

    #[test]
    fn blocks_keep_what_is_in_them() {
        let mut heap = Heap::reserve().expect("address space");
        let mut blocks: Vec<(*mut u8, usize, u8)> = Vec::new();
        let mut dice = 0x2545_f491_4f6c_dd1d_u64;
        let mut roll = |sides: usize| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice % sides as u64) as usize
        };
        for step in 0..20_000 {
            let most = [64, 4096, 300_000][roll(3)];
            let size = 1 + roll(most);
            let mark = step as u8;
            // SAFETY: every block is used up to the size it was asked for, and not after it was
            // given back.
            unsafe {
                match roll(3) {
                    0 if !blocks.is_empty() => {
                        let index = roll(blocks.len());
                        let (payload, size, mark) = blocks.swap_remove(index);
                        assert!(
                            std::slice::from_raw_parts(payload, size)
                                .iter()
                                .all(|byte| *byte == mark)
                        );
                        heap.release(payload);
                    }
                    1 if !blocks.is_empty() => {
                        let index = roll(blocks.len());
                        let (payload, old, mark) = blocks[index];
                        let moved = heap.reallocate(payload, size);
                        let kept = std::slice::from_raw_parts(moved, old.min(size));
                        assert!(kept.iter().all(|byte| *byte == mark));
                        fill(moved, size, mark);
                        blocks[index] = (moved, size, mark);
                    }
                    _ => {
                        let payload = heap.allocate(size);
                        assert_eq!(payload as usize % 16, 0);
                        assert!(usable_size(payload) >= size);
                        fill(payload, size, mark);
                        blocks.push((payload, size, mark));
                    }
                }
            }
            if step % 97 == 0 {
                heap.join();
            }
            if blocks.len() > 200 {
                let (payload, ..) = blocks.swap_remove(roll(blocks.len()));
                // SAFETY: as above.
                unsafe { heap.release(payload) };
            }
        }
        assert!(heap.live() >= blocks.iter().map(|(_, size, _)| size).sum());
        for (payload, ..) in blocks {
            // SAFETY: as above.
            unsafe { heap.release(payload) };
        }
        assert_eq!(heap.live(), 0);
    }

    #[test]
    fn what_is_given_back_serves_every_size() {
        let mut heap = Heap::reserve().expect("address space");
        let limit = 4 << 20;
        heap.set_limit(limit);
        let sizes = (3..17).flat_map(|power| [(1usize << power) - 8, (3 << power) / 2]);
        for size in sizes.clone().chain(sizes.rev()) {
            let blocks: Vec<*mut u8> = (0..(limit - (64 << 10)) / (size.max(16) * 5 / 4 + 16))
                .map(|index| {
                    let payload = heap.allocate(size);
                    assert!(!payload.is_null(), "block {index} of {size} bytes");
                    // SAFETY: the block has that many bytes.
                    unsafe { fill(payload, size, 0xaa) };
                    payload
                })
                .collect();
            for payload in blocks {
                // SAFETY: every block is given back once.
                unsafe { heap.release(payload) };
            }
        }
        assert!(heap.touched <= 2 * limit, "{} bytes were touched", heap.touched);
        assert!(!heap.exceeded() && heap.live() == 0);
    }

    #[test]
    fn holes_that_nothing_fits_into_are_not_free() {
        let mut heap = Heap::reserve().expect("address space");
        heap.set_limit(1 << 20);
        for size in (16..4096).step_by(16) {
            let mut blocks = Vec::new();
            while heap.live() < 900 << 10 && !heap.exceeded() {
                blocks.push(heap.allocate(size));
            }
            // Every second block stays, so that no two free ones are neighbours.
            for payload in blocks.into_iter().step_by(2) {
                // SAFETY: it was just handed out, or is null.
                unsafe { heap.release(payload) };
            }
            if heap.exceeded() {
                break;
            }
        }
        assert!(heap.touched <= 2 << 20, "{} bytes were touched", heap.touched);
    }

    #[test]
    fn the_limit_holds_and_is_noticed() {
        let mut heap = Heap::reserve().expect("address space");
        heap.set_limit(1 << 20);
        assert!(heap.allocate(2 << 20).is_null());
        assert!(heap.exceeded());
        heap.set_limit(1 << 20);
        let first = heap.allocate(600 << 10);
        assert!(!first.is_null() && !heap.exceeded());
        // SAFETY: the block is live until it is given back.
        unsafe {
            assert!(heap.reallocate(first, 2 << 20).is_null());
            first.write(1);
            heap.release(first);
        }
        assert!(heap.allocate(usize::MAX - 4).is_null());
        assert!(heap.peak() >= 600 << 10 && heap.peak() <= 1 << 20);
        // SAFETY: nothing of it is used.
        unsafe { heap.clear() };
        assert!(!heap.exceeded() && heap.live() == 0);
    }
}
