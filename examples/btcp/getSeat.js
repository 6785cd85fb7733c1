// Who sits on a seat. The input has passed the schema, so `seat` is a row and a number.
export default function getSeat({ seat }) {
  const cell = document.querySelector(`[data-seat="${seat}"]`);
  if (!cell) {
    throw new BTCPError('SEAT_NOT_FOUND', {
      message: `the plan has no seat ${seat}`,
      suggestion: 'read the plan and use a seat that it shows',
    });
  }
  const shown = cell.textContent;
  return { guest: shown === '–' ? null : shown, price: Number(cell.dataset.price), shown };
}
