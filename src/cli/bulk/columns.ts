import type { Issue } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'

/** The columns of a file, in the order of an export. */
export const columns = ['mobile', 'country_code', 'email', 'first_name', 'last_name', 'role']
/** The columns that every row must have. */
export const requiredColumns = ['mobile', 'email', 'first_name', 'last_name']

/** Other names of columns. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  mobile: ['phone', 'phone_number', 'mobile_number', 'mobile_phone', 'tel', 'telephone'],
  country_code: ['country', 'dialing_code', 'dialing_prefix'],
  email: ['e_mail', 'mail', 'email_address', 'e_mail_address'],
  first_name: ['firstname', 'given_name', 'forename'],
  last_name: ['lastname', 'surname', 'family_name'],
}

/** `E-Mail Address` -> `e_mail_address`. */
const normalize = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')

/** The column for a name in a file; undefined if there is none. */
export const columnOf = (name: string): string | undefined => {
  const word = normalize(name)
  return columns.find((column) => column === word || aliases[column]?.includes(word))
}

/** The error for an unknown column, with the most similar one. */
export const unknownColumn = (name: string): Issue => {
  const meant = nearest(normalize(name), [...columns, ...Object.values(aliases).flat()])
  return {
    field: name.length > 80 ? `${name.slice(0, 80)}…` : name || 'a column without a name',
    message: meant
      ? `is not a column; did you mean ${meant}?`
      : `is not a column; the columns are ${columns.join(', ')}`,
  }
}
