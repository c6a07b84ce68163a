import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Context } from '../context.ts'

/** Writes to a file, as `>` does, or to stdout for `-`. */
export const writePicture = async (target: string, text: string, context: Context): Promise<void> => {
  if (target === '-') return context.io.stdout.write(text)
  const path = resolve(context.io.cwd, target)
  writeFileSync(path, text)
  const output = await context.output()
  output.warn(`Written: ${path}`)
}
