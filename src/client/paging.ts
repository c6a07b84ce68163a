/**
 * The next page that a `Link` header names; undefined when it names none, or one that is not the same list:
 * a key goes to no other address because a header says so.
 */
export const nextPage = (link: string | undefined, url: string): string | undefined => {
  const next = link
    ?.split(/,(?=\s*<)/)
    .map((part) => /^\s*<([^<>]*)>(.*)$/.exec(part))
    .find((match) => match && /;\s*rel="?next"?\s*(?:;|$)/i.test(match[2]!))
  if (!next || !URL.canParse(next[1]!, url)) return undefined
  const here = new URL(url)
  const there = new URL(next[1]!, url)
  const same = there.origin === here.origin && there.pathname === here.pathname && !there.username
  return same && there.href !== here.href ? there.href : undefined
}
