// A `{name}` in the path of an operation stands for one segment, which is never empty.

const placeholder = /\{(\w+)\}/g

/** The names in `{}` of a path, in order. */
export const pathNames = (path: string): string[] => [...path.matchAll(placeholder)].map((match) => match[1]!)

/** The path with `{name}` replaced by what `valueOf` answers for that name. */
export const fillPath = (path: string, valueOf: (name: string) => string): string =>
  path.replace(placeholder, (_, name: string) => valueOf(name))

/** Whether an address has the form of a path: compared segment by segment, nothing is decoded. */
export const createPathMatcher = (path: string): ((pathname: string) => boolean) => {
  const wanted = path.split('/').map((segment) => (segment.startsWith('{') ? undefined : segment))
  return (pathname) => {
    const asked = pathname.split('/')
    return (
      asked.length === wanted.length &&
      wanted.every((segment, i) => (segment === undefined ? asked[i] !== '' : asked[i] === segment))
    )
  }
}
