// Gives a seat to a guest, or frees it.
export default function setSeat({ seat, guest }) {
  const cell = document.querySelector(`[data-seat="${seat}"]`);
  if (!cell) {
    throw new BTCPError('SEAT_NOT_FOUND', { message: `the plan has no seat ${seat}` });
  }
  if (cell.hasAttribute('data-locked')) {
    throw new BTCPError('SEAT_LOCKED', {
      message: `seat ${seat} cannot be changed`,
      suggestion: 'choose another seat',
    });
  }
  const previous = cell.textContent;
  cell.textContent = guest ?? '–';
  return { success: true, previousGuest: previous === '–' ? null : previous, newGuest: guest };
}
