import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../temporary-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const entry = `import { run } from './src/cli/main.ts'
import { runOnNode } from './src/cli/terminal/io-node.ts'
const start = async (): Promise<void> => {
  process.exitCode = await runOnNode(process.argv.slice(2), run)
}
void start()
`

/** A text of a file under src/, and what replaces it. */
export type Change = { file: string; from: string; to: string }

/** A deliberately broken program: a copy of the source with these changes. `program` is what Node runs. */
export const createVariant = (changes: readonly Change[]) => {
  const { path, remove } = temporaryFolder()
  cpSync(join(root, 'src'), join(path, 'src'), { recursive: true })
  cpSync(join(root, 'package.json'), join(path, 'package.json'))
  for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(path, name))
  for (const { file, from, to } of changes) {
    const name = join(path, 'src', file)
    const text = readFileSync(name, 'utf8')
    if (!text.includes(from)) throw new Error(`src/${file} no longer contains: ${from}`)
    writeFileSync(
      name,
      text.replaceAll(from, () => to),
    )
  }
  const main = join(path, 'main.ts')
  writeFileSync(main, entry)
  return { program: ['--import', 'tsx', main], remove }
}
