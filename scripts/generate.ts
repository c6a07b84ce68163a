import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeCommand } from '../src/cli/program/command-node.ts'
import { scripts } from '../src/cli/completion/scripts.ts'
import { documentSchema } from '../src/cli/declare/schema-text.ts'
import { memoryIo } from '../test/cli/memory-io.ts'
import { referencePages } from './reference.ts'
import { commandTree, openContext } from '../src/cli/main.ts'

// What is generated and kept in the repository; `npm run check` fails when it is stale.

const write = (folder: string, files: Record<string, string>): void => {
  const path = fileURLToPath(new URL(`../${folder}/`, import.meta.url))
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(path + name, text)
}

const generate = async (): Promise<void> => {
  const tree = describeCommand(await commandTree(openContext(memoryIo())))
  const files = Object.entries(scripts).map(([shell, text]) => [`svc.${shell}`, text])
  write('completions', Object.fromEntries(files) as Record<string, string>)
  write('docs/reference', { ...referencePages(tree), 'organization.schema.json': documentSchema() })
}

void generate()
