/**
 * The key of the text for a label of `receipt/subject-text.ts`: "Working directory" is `subject.workingDirectory`. Those labels
 * start with a capital letter; a name in the data never does, has no key, and stays as it is.
 */
export const labelKey = (label: string): string | undefined => {
  if (!/^[A-Z]/.test(label)) return undefined
  const words = label.replace("'", '').split(' ')
  const name = words.map((word, at) => word.charAt(0)[at ? 'toUpperCase' : 'toLowerCase']() + word.slice(1))
  return `subject.${name.join('')}`
}
