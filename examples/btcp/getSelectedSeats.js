// The selected seats, row by row.
export default function getSelectedSeats() {
  const rows = [...document.querySelectorAll('#seats tbody tr')]
    .map((row) => [...row.querySelectorAll('[aria-selected="true"]')])
    .filter((cells) => cells.length > 0);
  if (rows.length === 0) {
    throw new BTCPError('NOTHING_SELECTED', { suggestion: 'ask the person to select seats' });
  }
  const seats = rows.flat().map((cell) => cell.dataset.seat);
  return {
    range: `${seats[0]}:${seats[seats.length - 1]}`,
    rows: rows.length,
    columns: Math.max(...rows.map((cells) => cells.length)),
    guests: rows.map((cells) => cells.map((cell) => cell.textContent)),
  };
}
