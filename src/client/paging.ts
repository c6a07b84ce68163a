/** The cursor in a link; undefined if the service identifies its pages in another way. */
export const cursorIn = (link: string | undefined): string | undefined =>
  (link !== undefined && new URL(link).searchParams.get('cursor')) || undefined

const isNext = /;\s*rel="?next"?\s*(?:;|$)/i

/**
 * The next page in a `Link` header. Undefined if there is none, or if it is not the same list: a header must not
 * be able to send the key to another address.
 */
export const linkedPage = (link: string | undefined, url: string): string | undefined => {
  const found = link
    ?.split(/,(?=\s*<)/)
    .map((part) => /^\s*<([^<>]*)>(.*)$/.exec(part))
    .find((match) => match && isNext.test(match[2]!))
  if (!found || !URL.canParse(found[1]!, url)) return undefined
  const here = new URL(url)
  const there = new URL(found[1]!, url)
  const same = there.origin === here.origin && there.pathname === here.pathname && !there.username
  return same && there.href !== here.href ? there.href : undefined
}
