// The links of the page, in document order.
export default function listLinks({ contains = '', limit = 50 }) {
  const wanted = contains.toLowerCase();
  const links = [...document.querySelectorAll('a[href]')]
    .map((link) => ({ text: link.textContent.trim(), href: link.href }))
    .filter(({ text, href }) => (text + ' ' + href).toLowerCase().includes(wanted));
  return { links: links.slice(0, limit) };
}
