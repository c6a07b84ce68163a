// Of valid JSON: texts, so that no number is looked for inside of one, and numbers.
const token = /"(?:[^"\\]|\\[^])*"?|-?\d[\d.eE+-]*/g

/** Parses JSON with each number as the text that stands there: a float would lose digits. Throws a SyntaxError. */
export const parseExactly = (json: string): unknown => {
  // What is no JSON at all is found before anything is put into quotes.
  JSON.parse(json)
  return JSON.parse(json.replace(token, (found) => (found.startsWith('"') ? found : `"${found}"`)))
}
