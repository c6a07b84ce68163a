import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { svc } from '../svc.ts'
import { env, folder, installHooks, put, read, run, to } from './install-stage.ts'

installHooks()

test('keeps Claude Code from running the commands in skills, which it tells no hook of', async () => {
  const setting = 'disableSkillShellExecution'
  await run(`hook install claude ${to}`)
  expect(read('claude')).toMatchObject({ [setting]: true })
  const { [setting]: _, ...without } = read('claude')
  put('claude', JSON.stringify(without))
  const state = async (cwd = folder.path): Promise<unknown> => {
    const { out } = await svc('hook status -o json', { env: env(), cwd })
    const [{ state: found, detail }] = JSON.parse(out)
    return [found, detail.includes(`"${setting}" is `)]
  }
  expect(await state()).toEqual(['open', true])
  expect((await run(`hook install claude ${to}`)).err).not.toContain(setting)
  expect(await state()).toEqual([expect.any(String), false])

  const project = join(folder.path, 'work')
  mkdirSync(join(project, '.claude'), { recursive: true })
  writeFileSync(join(project, '.claude', 'settings.local.json'), JSON.stringify({ [setting]: false }))
  expect(await state(project)).toEqual(['open', true])
  const { err } = await svc(`hook install claude ${to}`, { env: env(), cwd: project })
  expect(err).toContain(`"${setting}" is false in ${join(project, '.claude', 'settings.local.json')}`)
})

test('leaves skills alone where the hook holds no tool of the shell', async () => {
  await run(`hook install claude ${to} --match 'mcp__github__*'`)
  expect(read('claude')).not.toHaveProperty('disableSkillShellExecution')
  expect(JSON.stringify(JSON.parse((await run('hook status -o json')).out))).not.toContain('skills')
})
