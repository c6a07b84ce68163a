import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startSvc, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Result, Torture } from './torture.ts'

const add = (name: string): string[] => [
  'profile',
  'create',
  name,
  '--base-url',
  'http://127.0.0.1:1/admin/public/api',
]

const names = (file: string): Set<string> =>
  new Set(Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { profiles: object }).profiles))

/** 100 processes at once, then 100 that are killed at random. Counts lost writes, corrupt files, wrong modes and leftover files. */
const honest = async (folder: string): Promise<Omit<Result, 'control' | 'count'>> => {
  const env = { SVC_CONFIG_DIR: join(folder, 'config') }
  const file = join(env.SVC_CONFIG_DIR, 'profiles.json')
  const examples: string[] = []
  const acknowledged: string[] = []
  const all = Array.from({ length: 100 }, (_, i) => `p${i}`)
  await Promise.all(
    all.map(async (name) => {
      const { exit, stderr } = await svc(add(name), env)
      if (exit === 0) acknowledged.push(name)
      else examples.push(`${name} failed: ${stderr.slice(0, 100)}`)
    }),
  )
  const refused = examples.length

  let killed = 0
  const victims = Array.from({ length: 100 }, (_, i) => `k${i}`)
  for (let i = 0; i < victims.length; i += 4)
    await Promise.all(
      victims.slice(i, i + 4).map(async (name, j) => {
        const child = startSvc(add(name), env, { stdio: 'ignore' })
        const timer = setTimeout(() => child.kill('SIGKILL'), 40 + ((i * 7 + j * 31) % 160))
        const [exit, signal] = (await once(child, 'exit')) as [number | null, string | null]
        clearTimeout(timer)
        if (signal) killed++
        else if (exit === 0) acknowledged.push(name)
      }),
    )
  const last = await svc(add('last'), env)
  if (last.exit === 0) acknowledged.push('last')
  else examples.push(`last: ${last.stderr}`)

  const there = names(file)
  const lost = acknowledged.filter((name) => !there.has(name))
  const left = readdirSync(env.SVC_CONFIG_DIR).filter((name) => name !== 'profiles.json')
  const open = (statSync(file).mode & 0o077) !== 0 || (statSync(env.SVC_CONFIG_DIR).mode & 0o077) !== 0
  for (const name of lost) examples.push(`lost ${name}`)
  for (const name of left) examples.push(`leftover ${name}`)
  return {
    failures: refused + lost.length + left.length + (open ? 1 : 0) + (last.exit === 0 ? 0 : 1),
    hits: { written: acknowledged.length, killed },
    examples: examples.slice(0, 5),
  }
}

/** The same without a lock: read, wait, write. */
const careless = `const fs=require('node:fs');const [f,n]=process.argv.slice(1);
const o=JSON.parse(fs.readFileSync(f,'utf8'));Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0,30);
o.profiles[n]={};fs.writeFileSync(f+n,JSON.stringify(o));fs.renameSync(f+n,f)`

const broken = async (folder: string): Promise<number> => {
  const file = join(folder, 'careless.json')
  await import('node:fs').then((fs) => fs.writeFileSync(file, '{"profiles":{}}'))
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      await once(spawn(process.execPath, ['-e', careless, file, `p${i}`], { stdio: 'ignore' }), 'exit')
    }),
  )
  return 20 - names(file).size
}

export const torture: Torture = {
  name: 'Profiles: 100 processes write at once, then 100 are killed while they write',
  must: '0 lost, 0 corrupt, 0 leftover files',
  run: async () => {
    const folder = temporaryFolder()
    try {
      return { count: 200, ...(await honest(folder.path)), control: await broken(folder.path) }
    } finally {
      folder.remove()
    }
  },
}
