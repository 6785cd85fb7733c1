//! The heap on its own, without the engine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// A heap that panics where that of a worker ends the process.
fn heap_with_limit(limit: usize) -> GuestHeap {
    unsafe fn panic_instead(_: *const c_void) -> ! {
        panic!("refused");
    }
    let mut heap = GuestHeap::reserve().expect("address space");
    heap.set_refusal_handler(Some((panic_instead, ptr::null())));
    heap.set_limit(limit);
    heap
}

/// The payload, or `None` if it was refused.
fn try_allocate(heap: &mut GuestHeap, size: usize) -> Option<*mut u8> {
    catch_unwind(AssertUnwindSafe(|| heap.allocate(size))).ok()
}

/// Every size that the heap hands out from its region.
#[test]
fn classes_are_large_enough_and_waste_little() {
    for block in (16..=LARGE).step_by(8) {
        let (class, size) = class_of(block);
        assert!(class < CLASSES && size >= block && size % 16 == 0, "{block}: {class}, {size}");
        assert_eq!(class_of(size), (class, size), "a freed block returns to its own list");
        assert!(block <= 64 || size - block <= block / 4, "{block} wastes {}", size - block);
    }
}

/// Fills a block with a byte that distinguishes it from others.
unsafe fn fill(payload: *mut u8, size: usize, mark: u8) {
    // SAFETY: the caller gives a payload of `size` bytes.
    unsafe { ptr::write_bytes(payload, mark, size) };
}

/// Thousands of random allocations, reallocations and releases. Every block is filled with a mark,
/// so that blocks that overlap, or content that is lost when a block moves, are noticed.
#[test]
fn blocks_keep_their_content() {
    let mut heap = heap_with_limit(usize::MAX);
    let mut blocks: Vec<(*mut u8, usize, u8)> = Vec::new();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |bound: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % bound as u64) as usize
    };
    for step in 0..20_000 {
        let most = [64, 4096, 300_000][below(3)];
        let size = 1 + below(most);
        let mark = step as u8;
        // SAFETY: every block is used up to the size that was requested, and not after it was
        // freed.
        unsafe {
            match below(3) {
                0 if !blocks.is_empty() => {
                    let index = below(blocks.len());
                    let (payload, size, mark) = blocks.swap_remove(index);
                    assert!(
                        std::slice::from_raw_parts(payload, size).iter().all(|byte| *byte == mark)
                    );
                    heap.release(payload);
                }
                1 if !blocks.is_empty() => {
                    let index = below(blocks.len());
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
            heap.join_neighbours();
        }
        if blocks.len() > 200 {
            let (payload, ..) = blocks.swap_remove(below(blocks.len()));
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

/// Fills the heap with blocks of one size, frees all of them and goes on to the next size, from
/// small to large and back: what a good program may do without being refused memory.
#[test]
fn freed_memory_serves_every_size() {
    let limit = 4 << 20;
    let mut heap = heap_with_limit(limit);
    let sizes = (3..17).flat_map(|power| [(1usize << power) - 8, (3 << power) / 2]);
    for size in sizes.clone().chain(sizes.rev()) {
        let blocks: Vec<*mut u8> = (0..(limit - (64 << 10)) / (size.max(16) * 5 / 4 + 16))
            .map(|index| {
                let payload = try_allocate(&mut heap, size)
                    .unwrap_or_else(|| panic!("block {index} of {size} bytes is refused"));
                // SAFETY: the block has that many bytes.
                unsafe { fill(payload, size, 0xaa) };
                payload
            })
            .collect();
        for payload in blocks {
            // SAFETY: every block is freed once.
            unsafe { heap.release(payload) };
        }
    }
    assert!(heap.touched <= 2 * limit, "{} bytes were touched", heap.touched);
    assert_eq!(heap.live(), 0);
}

/// Every second block stays in use, so that no two free ones are neighbours.
#[test]
fn fragmentation_is_bounded() {
    let mut heap = heap_with_limit(1 << 20);
    'sizes: for size in (16..4096).step_by(16) {
        let mut blocks = Vec::new();
        while heap.live() < 900 << 10 {
            let Some(payload) = try_allocate(&mut heap, size) else { break 'sizes };
            blocks.push(payload);
        }
        for payload in blocks.into_iter().step_by(2) {
            // SAFETY: it was just handed out.
            unsafe { heap.release(payload) };
        }
    }
    assert!(heap.touched <= 2 << 20, "{} bytes were touched", heap.touched);
}

#[test]
fn the_limit_is_enforced() {
    let mut heap = heap_with_limit(1 << 20);
    assert!(try_allocate(&mut heap, 2 << 20).is_none());
    assert!(try_allocate(&mut heap, usize::MAX - 4).is_none());
    let block = try_allocate(&mut heap, 600 << 10).expect("below the limit");
    assert!(try_allocate(&mut heap, 600 << 10).is_none(), "the sum counts");
    // SAFETY: the block is in use.
    let grow = |heap: &mut GuestHeap| unsafe { heap.reallocate(block, 2 << 20) };
    assert!(catch_unwind(AssertUnwindSafe(|| grow(&mut heap))).is_err());
    assert!(heap.peak() >= 600 << 10 && heap.peak() <= 1 << 20, "{}", heap.peak());
    // SAFETY: no block is used afterwards.
    unsafe { heap.clear() };
    assert_eq!(heap.live(), 0);
}
