// The title of the page.
export default () => ({ title: document.title });
