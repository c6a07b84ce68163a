import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, type Figure } from './figures.ts'
import { bin, svc } from '../e2e/processes.ts'
import { startService } from './service-child.ts'
import { timed } from './start-up.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const rounds = 9
const users = 6000

/** A list of users through `--jq`, compared with the same list with `-o json`. */
export const filterFigure = async (): Promise<Figure> => {
  const { path: dir, remove } = temporaryFolder()
  const file = join(dir, 'users.csv')
  const lines = Array.from(
    { length: users },
    (_, i) => `First ${i},Last ${i},user${i}@acme.example,+1,202${String(2_000_000 + i)}`,
  )
  writeFileSync(file, `${['first_name,last_name,email,country_code,mobile', ...lines].join('\n')}\n`)
  const service = await startService()
  try {
    const { env } = service
    await svc('org create --name Acme', env)
    await svc(['user', 'import', file, '--org', '1'], env)
    const list = ['user', 'list', '--org', '1']
    const { stdout } = await svc([...list, '--jq', 'length'], env)
    if (stdout !== `${users}\n`) throw new Error(`--jq length printed ${stdout}`)
    const ratios: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const plain = await timed([bin, ...list, '-o', 'json'], env)
      const ratio = (await timed([bin, ...list, '--jq', 'length'], env)) / plain
      if (round > 0) ratios.push(ratio)
    }
    return {
      what: `svc user list --jq length / -o json, ${users} users`,
      figure: median(ratios),
      unit: '',
      must: 1.5,
      beyond: 1.1,
      more: false,
    }
  } finally {
    await service.end()
    remove()
  }
}
