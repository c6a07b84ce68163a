/** The columns of a file, in the order of an export. */
export const columns = ['mobile', 'country_code', 'email', 'first_name', 'last_name', 'role']
/** The columns that every row must have. */
export const requiredColumns = ['mobile', 'email', 'first_name', 'last_name']

/** `First Name` -> `first_name`. */
export const columnOf = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')
