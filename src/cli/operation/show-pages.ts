import type { Context } from '../context/context.ts'
import type { Format, Output } from '../terminal/output.ts'
import type { Shape } from '../terminal/payload.ts'
import { render } from '../terminal/render.ts'
import { type Listed, rowsOf } from './list-rows.ts'

// A long list is printed page by page where the format allows it, so that it need not fit into memory.

/** Formats in which a page looks the same whatever the other pages contain. */
const byPage = new Set<Format>(['json', 'ndjson', 'tsv', 'id'])

/** Not on a terminal, where a list scrolls away anyway. */
export const canShowPages = (
  { format }: Output,
  { io, globals: { jq } }: Pick<Context, 'io' | 'globals'>,
): boolean => !io.stdout.isTTY && byPage.has(format) && jq === undefined

/** Prints the pages of a list as they arrive, as one document. Returns the last one. */
export const showPages = async (
  first: Listed,
  pages: AsyncGenerator<Listed, void>,
  { format }: Output,
  shape: Shape,
  context: Pick<Context, 'io' | 'endsWithReader'>,
): Promise<Listed> => {
  const { stdout } = context.io
  const isJson = format === 'json'
  context.endsWithReader = true
  let last = first
  let isEmpty = true
  const print = async (page: Listed): Promise<void> => {
    last = page
    const rows = rowsOf(page)
    if (rows.length === 0) return
    const text = await render(rows, shape, format as Exclude<Format, 'table'>, false)
    const inside = text.slice('[\n'.length, -'\n]\n'.length)
    stdout.write(isJson ? `${isEmpty ? '[' : ','}\n${inside}` : text)
    isEmpty = false
  }
  await print(first)
  for await (const page of pages) await print(page)
  if (isJson) stdout.write(isEmpty ? '[]\n' : '\n]\n')
  return last
}
