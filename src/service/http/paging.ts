import { Refusal } from '../refusal.ts'
import type { Page } from '../call.ts'

const encode = (after: number): string => Buffer.from(`after:${after}`).toString('base64url')

const decode = (cursor: string): number => {
  const after = /^after:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1]
  if (after === undefined)
    throw new Refusal(422, 'invalid_field', 'cursor is not one that this service gave', {
      issues: [{ field: 'cursor', message: 'is not one that this service gave' }],
      hint: 'Take it from the Link header of the page before',
    })
  return Number(after)
}

/** The page that the input asks for, and the `Link` header once the rows are known. */
export const createPager = (input: Record<string, unknown>, url: string, origin: string) => {
  const limit = input.limit as number | undefined
  const page: Page = {
    after: input.cursor === undefined ? 0 : decode(input.cursor as string),
    ...(limit !== undefined && { limit }),
  }
  let next: number | undefined
  return {
    page,
    paged: <Row>(rows: Row[], key: (row: Row) => number): Row[] => {
      if (limit === undefined || rows.length <= limit) return rows
      const kept = rows.slice(0, limit)
      next = key(kept.at(-1)!)
      return kept
    },
    headers: (): Record<string, string> => {
      if (next === undefined) return {}
      const { pathname, searchParams } = new URL(url)
      searchParams.set('cursor', encode(next))
      return { link: `<${origin}${pathname}?${searchParams}>; rel="next"` }
    },
  }
}
