// Fills one field of a form, found by its id, its name or its label.
export default function fillField({ field, value }) {
  const element = document.getElementById(field)
    ?? document.getElementsByName(field)[0]
    ?? fieldOfLabel(field);
  if (!element) {
    throw new BTCPError('FIELD_NOT_FOUND', {
      message: `no field has the label, name or id \`${field}\``,
      suggestion: 'read the page and use a label that it shows',
    });
  }
  const previous = element.value;
  element.value = value;
  return { previous };
}

function fieldOfLabel(text) {
  const label = [...document.querySelectorAll('label')]
    .find((it) => it.textContent.trim().toLowerCase() === text.toLowerCase());
  return label?.control;
}
