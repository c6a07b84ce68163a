// A `{name}` in the path of an operation matches one non-empty segment.

const placeholder = /\{(\w+)\}/g

/** The names in `{}` of a path, in order. */
export const pathNames = (path: string): string[] => [...path.matchAll(placeholder)].map((match) => match[1]!)

/** The path with each `{name}` replaced by `valueOf(name)`. */
export const fillPath = (path: string, valueOf: (name: string) => string): string =>
  path.replace(placeholder, (_, name: string) => valueOf(name))

/** Matches addresses segment by segment, without decoding them. */
export const createPathMatcher = (path: string): ((pathname: string) => boolean) => {
  const expected = path.split('/').map((segment) => (segment.startsWith('{') ? undefined : segment))
  return (pathname) => {
    const segments = pathname.split('/')
    return (
      segments.length === expected.length &&
      expected.every((segment, i) => (segment === undefined ? segments[i] !== '' : segments[i] === segment))
    )
  }
}
