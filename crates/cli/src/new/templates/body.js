// The body of the tool. It runs in a sandbox: JSON in, JSON out, nothing else.
export default function run({ text }) {
  return { text: [...text].reverse().join("") };
}
