import type { Context } from '../context/context.ts'
import type { Format, Output } from '../terminal/output.ts'
import type { Shape } from '../terminal/payload.ts'
import { render } from '../terminal/render.ts'
import { type Listed, rowsOf } from './list-rows.ts'

// A long list is printed page by page where the format allows it, so that it need not fit into memory.

/** Formats in which a page looks the same whatever the other pages contain. */
const byPage = new Set<Format>(['json', 'ndjson', 'tsv', 'id'])

/** Not on a terminal, where a list is shown in a pager or scrolls away anyway. */
export const canShowPages = (
  { format }: Output,
  { io, globals: { json, jq, envelope } }: Pick<Context, 'io' | 'globals'>,
): boolean => !io.stdout.isTTY && byPage.has(format) && json === undefined && jq === undefined && !envelope

/** The text of one page, such that all together are one document. */
const textOf = async (
  rows: readonly unknown[],
  shape: Shape,
  format: Format,
  isFirst: boolean,
): Promise<string> => {
  const text = await render(rows, shape, format as Exclude<Format, 'table'>, false)
  if (format !== 'json') return text
  const inside = rows.length === 0 ? '' : text.slice('[\n'.length, -'\n]\n'.length)
  return isFirst ? `[\n${inside}` : inside === '' ? '' : `,\n${inside}`
}

/** Prints the pages of a list as they arrive. Returns the last one. */
export const showPages = async (
  first: Listed,
  pages: AsyncGenerator<Listed, void>,
  { format }: Output,
  shape: Shape,
  { io }: Pick<Context, 'io'>,
): Promise<Listed> => {
  let last = first
  const print = async (page: Listed): Promise<void> =>
    io.stdout.write(await textOf(rowsOf(page), shape, format, page === first))
  await print(first)
  for await (const page of pages) {
    last = page
    await print(page)
  }
  if (format === 'json') io.stdout.write('\n]\n')
  return last
}
