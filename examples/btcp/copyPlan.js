// Copies a table to the clipboard.
export default async function copyPlan({ selector, format = 'csv', includeHeaders = true }) {
  const table = document.querySelector(selector);
  if (!table) {
    throw new BTCPError('TABLE_NOT_FOUND', { message: `nothing matches ${selector}` });
  }
  const rows = [...table.querySelectorAll(includeHeaders ? 'tr' : 'tbody tr')]
    .map((row) => [...row.cells].map((cell) => cell.textContent));
  const text = format === 'json'
    ? JSON.stringify(rows)
    : rows.map((row) => row.join(format === 'csv' ? ',' : '\t')).join('\n');
  await navigator.clipboard.writeText(text);
  return {
    success: true,
    rowCount: rows.length,
    columnCount: Math.max(0, ...rows.map((row) => row.length)),
    byteSize: byteSize(text),
  };
}

// Bytes in UTF-8.
function byteSize(text) {
  return [...text].reduce((sum, character) => {
    const code = character.codePointAt(0);
    return sum + 1 + (code > 0x7f) + (code > 0x7ff) + (code > 0xffff);
  }, 0);
}
