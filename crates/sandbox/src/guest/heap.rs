//! The memory of one guest: a region that is handed out block by block and dropped as a whole when
//! the call ends.
//!
//! ```text
//!   base                                          top            most               REGION
//!   │ block │ free │ block │ block │ free │ block │ never used yet │ beyond the bound │
//!   └ size ┘                                      └▶ extend        └▶ join, or map alone
//! ```
//!
//! Why not the allocator of the C library: ending a runtime object by object takes longer than a
//! small call, while here a new call just starts at the base again. The first pages of the region
//! stay resident, which makes a fresh runtime cheap. And the limit of the guest is enforced here.
//!
//! Two numbers are bounded. The guest may have at most `limit` bytes in use. And the region may
//! grow by at most twice that (`most`): a program that goes through many sizes would otherwise
//! leave a list of free blocks per size behind and make the worker touch the whole region. Once
//! `most` is reached, larger free blocks are cut, and neighbouring free blocks are joined, so that
//! such a program is not refused memory that it gave back.
//!
//! A block is never refused by returning null, because the engine does not survive that: where it
//! runs out of memory while it compiles, it reads beyond its buffers. [`GuestHeap::refuse`] reports
//! the failure to the parent and ends the process. So nothing here has to keep working afterwards.

use std::ffi::c_void;
use std::ptr;

use rquickjs_sys as qjs;

/// Bytes of address space for blocks. The system provides a page when it is first touched.
const REGION: usize = 512 << 20;
/// Bytes at the start of the region that stay resident between calls: a little more than a small
/// call uses.
const WARM: usize = 1 << 20;
/// Blocks above this size are mapped one by one, so that growing them moves pages, not bytes.
const LARGE: usize = 128 << 10;
/// Bytes before the payload of every block: its size. Payloads are aligned to 16.
const HEADER: usize = 8;
/// Bytes before the payload of a large block: the links of [`LargeHeapBlock`], then the header.
const LARGE_HEADER: usize = 32;
/// Sizes up to this one are rounded up to a multiple of 16, larger ones to an eighth of a power of
/// two, so that at most about an eighth of a block is wasted.
const FINE: usize = 1024;
/// The number of size classes: one per multiple of 16 up to `FINE`, then eight for each of the
/// seven powers of two up to `LARGE`.
const CLASSES: usize = FINE / 16 + 7 * 8;
/// Set in the header of a free block. Sizes are multiples of 16, so the low bits are available.
const FREE: usize = 1;
/// Set in the header of a block that is a mapping of its own.
const MAPPED: usize = 2;

/// The memory of one guest, and how much of it is in use.
pub(super) struct GuestHeap {
    base: *mut u8,
    /// Bytes of the region that are divided into blocks, used or free, without gaps.
    top: usize,
    /// The bound of `top`.
    most: usize,
    /// The largest `top` of this call: pages below it may have been touched.
    touched: usize,
    /// Bytes that became free since neighbours were last joined.
    released: usize,
    /// Free blocks, in one list per class. A block is in the list of the largest class that it can
    /// serve.
    free: [*mut FreeHeapBlock; CLASSES],
    /// The list of large blocks, so that `clear` can unmap them.
    large: *mut LargeHeapBlock,
    /// Bytes in use, headers included.
    live: usize,
    /// The largest `live` since the limit was set.
    peak: usize,
    limit: usize,
    on_refusal: Option<RefusalHandler>,
}

/// A function that reports that memory was refused and ends the process, and its argument. It must
/// not touch the heap, which is borrowed meanwhile.
pub(super) type RefusalHandler = (unsafe fn(*const c_void) -> !, *const c_void);

/// Lies in the payload of a free block.
struct FreeHeapBlock {
    next: *mut FreeHeapBlock,
}

/// Lies at the start of the mapping of a large block.
struct LargeHeapBlock {
    next: *mut LargeHeapBlock,
    previous: *mut LargeHeapBlock,
    /// Bytes of the mapping.
    length: usize,
}

impl GuestHeap {
    /// Reserves the region. Fails if the system has no address space for it.
    pub(super) fn reserve() -> std::io::Result<GuestHeap> {
        let base = map(REGION)?;
        Ok(GuestHeap {
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
            on_refusal: None,
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

    /// From now on at most `limit` bytes may be in use. The region may grow by twice the bytes
    /// that are left of the limit.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        let room = limit.saturating_sub(self.live).saturating_mul(2);
        self.most = self.top.saturating_add(room).min(REGION);
        self.peak = self.live;
    }

    /// Sets the function that is called when memory is refused. Without one the process aborts:
    /// that is the case only while a runtime is made, when there is no limit.
    pub(super) fn set_refusal_handler(&mut self, handler: Option<RefusalHandler>) {
        self.on_refusal = handler;
    }

    /// Ends every block at once and removes the limit.
    ///
    /// # Safety
    /// No block of this heap may be used afterwards.
    pub(super) unsafe fn clear(&mut self) {
        while !self.large.is_null() {
            let block = self.large;
            // SAFETY: the list holds only blocks that are mapped, and the caller guarantees that
            // none is used any more.
            unsafe {
                self.large = (*block).next;
                libc::munmap(block.cast(), (*block).length);
            }
        }
        if self.touched > WARM {
            // SAFETY: the range lies within the region, and no block in it is used any more. Its
            // pages go back to the system and read as zeros when they are touched again.
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

    /// Ends the process instead of giving the engine a null pointer.
    fn refuse(&self) -> ! {
        if let Some((report_and_exit, argument)) = self.on_refusal {
            // SAFETY: the handler is removed before its argument ends (`set_refusal_handler`).
            unsafe { report_and_exit(argument) }
        }
        std::process::abort()
    }

    /// Refuses if `bytes` more would exceed the limit.
    fn check_limit(&self, bytes: usize) {
        if bytes > self.limit.saturating_sub(self.live) {
            self.refuse();
        }
    }

    /// A payload of at least `size` bytes, aligned to 16, with undefined content.
    fn allocate(&mut self, size: usize) -> *mut u8 {
        // A free block holds a link behind its header, so no block is smaller than 16 bytes.
        let Some(block) = size.max(8).checked_add(HEADER) else { self.refuse() };
        if block > LARGE {
            return self.allocate_large(size);
        }
        let (class, block) = class_of(block);
        self.check_limit(block);
        let Some(start) = self.find_block(class, block) else {
            // The holes are too small. A mapping takes whole pages, so small blocks get none.
            return if block > FINE { self.allocate_large(size) } else { self.refuse() };
        };
        self.count(block);
        // SAFETY: `find_block` returned the start of `block` bytes, at least 16, that are free.
        unsafe {
            start.cast::<usize>().write(block);
            start.add(HEADER)
        }
    }

    /// Finds room for a block of this class, trying the fastest way first: a free block of the
    /// same class, the unused part of the region, a larger free block, joined free blocks.
    fn find_block(&mut self, class: usize, block: usize) -> Option<*mut u8> {
        if let Some(start) = self.reuse(class, block).or_else(|| self.extend(block)) {
            return Some(start);
        }
        let reuse_larger =
            |heap: &mut GuestHeap| (class..CLASSES).find_map(|class| heap.reuse(class, block));
        reuse_larger(self).or_else(|| {
            // Joining visits every block of the region. For blocks that could be mapped instead,
            // which costs two system calls, it must be worth that: enough must have become free
            // since the last time. For small blocks the alternative is to end the guest.
            if block > FINE && self.released < self.top / 16 {
                return None;
            }
            self.join_neighbours();
            reuse_larger(self).or_else(|| self.extend(block))
        })
    }

    /// Takes the first block of a list and gives back what is beyond `block` bytes.
    fn reuse(&mut self, class: usize, block: usize) -> Option<*mut u8> {
        let free = self.free[class];
        if free.is_null() {
            return None;
        }
        // SAFETY: blocks in the lists are free and hold a link behind their header. Every block of
        // this list has at least `block` bytes, so the part that is cut off lies within it.
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

    /// Takes a block from the unused part of the region.
    fn extend(&mut self, block: usize) -> Option<*mut u8> {
        // The first header lies 8 bytes behind the base, so that payloads are aligned to 16; that
        // is why one more header must fit.
        if self.top + block + HEADER > self.most {
            return None;
        }
        // SAFETY: the range was just found to lie within the region.
        let start = unsafe { self.header_at(self.top) };
        self.top += block;
        self.touched = self.touched.max(self.top);
        Some(start)
    }

    /// The header of the block at `offset`.
    ///
    /// # Safety
    /// `offset` is at most `top`, and a header fits behind it into the region.
    unsafe fn header_at(&self, offset: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        unsafe { self.base.add(offset + HEADER) }
    }

    /// Puts a free block into its list.
    ///
    /// # Safety
    /// The `size` bytes from `start`, at least 16, belong to this heap and are not used.
    unsafe fn enlist(&mut self, start: *mut u8, size: usize) {
        let (class, served) = class_of(size.min(LARGE));
        // A block that was cut or joined need not have the size of a class: round down.
        let class = if served > size { class - 1 } else { class };
        // SAFETY: guaranteed by the caller: header and link fit into 16 bytes.
        unsafe {
            start.cast::<usize>().write(size | FREE);
            let free = start.add(HEADER).cast::<FreeHeapBlock>();
            free.write(FreeHeapBlock { next: self.free[class] });
            self.free[class] = free;
        }
    }

    /// Makes one block of each run of free blocks, and lowers `top` if the last run ends there. All
    /// lists are rebuilt, so no block has to be removed from the middle of one.
    fn join_neighbours(&mut self) {
        self.released = 0;
        self.free = [ptr::null_mut(); CLASSES];
        let (mut offset, top) = (0, self.top);
        while offset < top {
            // SAFETY: blocks follow each other without gaps up to `top`, and the size in each
            // header leads to the next one. A run of free blocks is not used by anything.
            unsafe {
                let start = self.header_at(offset);
                let mut end = offset;
                while end < top {
                    let size = self.header_at(end).cast::<usize>().read();
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
                // The block at `end` is used: its header is its size.
                offset = end + self.header_at(end).cast::<usize>().read();
            }
        }
    }

    /// A block that is a mapping of its own.
    fn allocate_large(&mut self, size: usize) -> *mut u8 {
        let Some(length) = mapping_length(size) else { self.refuse() };
        self.check_limit(length);
        let Ok(start) = map(length) else { self.refuse() };
        self.count(length);
        // SAFETY: `start` begins a fresh mapping of `length` bytes.
        unsafe { self.link(start.cast(), length) }
    }

    /// Puts a large block into the list and returns its payload.
    ///
    /// # Safety
    /// `block` begins a mapping of `length` bytes that is in no list.
    unsafe fn link(&mut self, block: *mut LargeHeapBlock, length: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller; blocks in the list are mapped.
        unsafe {
            block.write(LargeHeapBlock { next: self.large, previous: ptr::null_mut(), length });
            if !self.large.is_null() {
                (*self.large).previous = block;
            }
            self.large = block;
            let payload = block.cast::<u8>().add(LARGE_HEADER);
            payload.sub(HEADER).cast::<usize>().write(length | MAPPED);
            payload
        }
    }

    /// Removes a large block from the list.
    ///
    /// # Safety
    /// `block` is in the list.
    unsafe fn unlink(&mut self, block: *mut LargeHeapBlock) {
        // SAFETY: guaranteed by the caller; neighbours in the list are mapped.
        unsafe {
            let LargeHeapBlock { next, previous, .. } = block.read();
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

    /// Frees a block.
    ///
    /// # Safety
    /// `payload` is null, or this heap handed it out and it was not freed since.
    unsafe fn release(&mut self, payload: *mut u8) {
        if payload.is_null() {
            return;
        }
        // SAFETY: guaranteed by the caller: a header lies before the payload, and before that of a
        // large block its links.
        unsafe {
            let header = payload.sub(HEADER).cast::<usize>().read();
            let block = header & !MAPPED;
            self.live -= block;
            if header != block {
                let large = payload.sub(LARGE_HEADER).cast::<LargeHeapBlock>();
                self.unlink(large);
                libc::munmap(large.cast(), block);
            } else {
                self.released += block;
                self.enlist(payload.sub(HEADER), block);
            }
        }
    }

    /// Changes the size of a block, which may move.
    ///
    /// # Safety
    /// As for `release`.
    unsafe fn reallocate(&mut self, payload: *mut u8, size: usize) -> *mut u8 {
        if payload.is_null() {
            return self.allocate(size);
        }
        // SAFETY: guaranteed by the caller: `payload` has a header and `usable` bytes. The new
        // block holds at least as many bytes as are copied, and does not overlap the old one.
        unsafe {
            let header = payload.sub(HEADER).cast::<usize>().read();
            let block = header & !MAPPED;
            let usable = usable_size(payload);
            if header != block && size.saturating_add(HEADER) > LARGE {
                return self.remap(payload, block, size);
            }
            // A block that shrinks stays in place unless that wastes more than half of it.
            if size <= usable && (block <= 64 || size > usable / 2) {
                return payload;
            }
            let moved = self.allocate(size);
            ptr::copy_nonoverlapping(payload, moved, usable.min(size));
            self.release(payload);
            moved
        }
    }

    /// Changes the size of a large block that stays large.
    ///
    /// # Safety
    /// `payload` is that of a large block whose mapping has `old` bytes.
    unsafe fn remap(&mut self, payload: *mut u8, old: usize, size: usize) -> *mut u8 {
        let Some(length) = mapping_length(size) else { self.refuse() };
        self.check_limit(length.saturating_sub(old));
        // SAFETY: guaranteed by the caller. The block is not in the list while its mapping moves.
        unsafe {
            let block = payload.sub(LARGE_HEADER).cast::<LargeHeapBlock>();
            self.unlink(block);
            let Ok(moved) = resize_mapping(block.cast(), old, length) else { self.refuse() };
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

impl Drop for GuestHeap {
    fn drop(&mut self) {
        // SAFETY: the owner of the heap ends the runtime in it first, so no block is used any
        // more. The region was mapped by `reserve`.
        unsafe {
            self.clear();
            libc::munmap(self.base.cast(), REGION);
        }
    }
}

/// The class of the smallest blocks that have at least `block` bytes, and their size. `block` is
/// between 16 and `LARGE`.
fn class_of(block: usize) -> (usize, usize) {
    if block <= FINE {
        let class = block.div_ceil(16);
        return (class - 1, class * 16);
    }
    // `1 << power` is the largest power of two below `block`; eight steps lead to the next one.
    let power = usize::BITS - 1 - (block - 1).leading_zeros();
    let step = 1usize << (power - 3);
    let steps = (block - (1 << power)).div_ceil(step);
    let class = FINE / 16 + (power as usize - 10) * 8 + steps - 1;
    (class, (1 << power) + steps * step)
}

/// Bytes of the mapping for a large block: whole pages.
fn mapping_length(size: usize) -> Option<usize> {
    Some(size.checked_add(LARGE_HEADER + 4095)? & !4095)
}

/// Bytes of a payload, which may be more than were asked for.
///
/// # Safety
/// A heap handed `payload` out, and it was not freed since.
unsafe fn usable_size(payload: *const u8) -> usize {
    // SAFETY: guaranteed by the caller: the header lies before the payload.
    let header = unsafe { payload.sub(HEADER).cast::<usize>().read() };
    if header & MAPPED == 0 { header - HEADER } else { (header & !MAPPED) - LARGE_HEADER }
}

/// A new mapping, filled with zeros.
fn map(length: usize) -> std::io::Result<*mut u8> {
    // NORESERVE: the region is larger than what a guest may use, and must not count against the
    // memory that the system is ready to promise.
    #[cfg(target_os = "linux")]
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    #[cfg(not(target_os = "linux"))]
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: a new anonymous mapping does not touch anything that exists.
    let start = unsafe {
        libc::mmap(ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if start == libc::MAP_FAILED { Err(std::io::Error::last_os_error()) } else { Ok(start.cast()) }
}

/// Changes the length of a mapping, which may move.
///
/// # Safety
/// `block` begins a mapping of `old` bytes.
#[cfg(target_os = "linux")]
unsafe fn resize_mapping(block: *mut u8, old: usize, length: usize) -> std::io::Result<*mut u8> {
    // SAFETY: guaranteed by the caller.
    let moved = unsafe { libc::mremap(block.cast(), old, length, libc::MREMAP_MAYMOVE) };
    if moved == libc::MAP_FAILED { Err(std::io::Error::last_os_error()) } else { Ok(moved.cast()) }
}

/// Changes the length of a mapping where the system cannot: by copying.
///
/// # Safety
/// `block` begins a mapping of `old` bytes.
#[cfg(not(target_os = "linux"))]
unsafe fn resize_mapping(block: *mut u8, old: usize, length: usize) -> std::io::Result<*mut u8> {
    let moved = map(length)?;
    // SAFETY: guaranteed by the caller; the new mapping has at least the bytes that are copied.
    unsafe {
        ptr::copy_nonoverlapping(block, moved, old.min(length));
        libc::munmap(block.cast(), old);
    }
    Ok(moved)
}

/// The functions through which the engine allocates; `opaque` is the heap.
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
    // SAFETY: `opaque` is the heap that the engine was given, and the engine, which runs on one
    // thread, does not use it otherwise meanwhile.
    let heap = unsafe { &mut *opaque.cast::<GuestHeap>() };
    let Some(bytes) = (count as usize).checked_mul(size as usize) else { heap.refuse() };
    let payload = heap.allocate(bytes);
    if bytes + HEADER <= LARGE {
        // SAFETY: the block has at least `bytes` bytes. Larger ones are fresh mappings, which are
        // zero already.
        unsafe { ptr::write_bytes(payload, 0, bytes) };
    }
    payload.cast()
}

unsafe extern "C" fn js_malloc(opaque: *mut c_void, size: qjs::size_t) -> *mut c_void {
    // SAFETY: as in `js_calloc`.
    unsafe { (*opaque.cast::<GuestHeap>()).allocate(size as usize).cast() }
}

unsafe extern "C" fn js_free(opaque: *mut c_void, payload: *mut c_void) {
    // SAFETY: as in `js_calloc`; the engine frees only blocks that it was given, and each once.
    unsafe { (*opaque.cast::<GuestHeap>()).release(payload.cast()) };
}

unsafe extern "C" fn js_realloc(
    opaque: *mut c_void,
    payload: *mut c_void,
    size: qjs::size_t,
) -> *mut c_void {
    // SAFETY: as in `js_free`.
    unsafe {
        let heap = &mut *opaque.cast::<GuestHeap>();
        // The engine frees a block by resizing it to nothing, too.
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
    // SAFETY: the engine asks only about blocks that it was given.
    unsafe { usable_size(payload.cast()) as qjs::size_t }
}

#[cfg(test)]
mod tests;
