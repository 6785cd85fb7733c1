// The body of the tool in count-words.json. It runs in a sandbox: JSON in, JSON out, nothing else.
export default function countWords({ text }) {
  return {
    words: (text.match(/[\p{L}\p{N}]+/gu) ?? []).length,
    characters: [...text].length,
  };
}
