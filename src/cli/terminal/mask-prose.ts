const numbers = /(?:\+|%2B)\d{7,15}/gi

/** `+1••••••0101`. Shows one digit of the dialing prefix, so that it needs no list of prefixes. */
const masked = (number: string): string => {
  const digits = number.replace(/^(?:\+|%2B)/i, '')
  return `+${digits[0]}${'•'.repeat(digits.length - 5)}${digits.slice(-4)}`
}

/** Whether text ends before an example, or where a command has a value: `such as `, `--to `, `default_mobile=`, `users/`. */
const endsBeforeValue = (text: string): boolean => {
  const bare = text.replace(/['"]$/, '')
  return (
    /(?:[a-z_][=/]|such as |Example: )$/.test(bare) ||
    bare.slice(bare.lastIndexOf(' ', bare.length - 2) + 1).startsWith('--')
  )
}

/**
 * Prose with phone numbers masked: whatever svc prints for people ends up in logs. An example stays, and so do
 * numbers in a command, because it must work as it is printed; whoever prints a command leaves out those of people.
 */
export const maskProse = (text: string): string =>
  text.replace(numbers, (number, at: number) =>
    endsBeforeValue(text.slice(Math.max(0, at - 60), at)) ? number : masked(number),
  )

/** Text with every phone number in it masked, also in a command. */
export const withoutPhones = (text: string): string => text.replace(numbers, masked)
