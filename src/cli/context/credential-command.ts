import { spawn } from 'node:child_process'
import { withoutSecrets } from '../../core/env.ts'
import { interrupted, SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Io } from '../terminal/io.ts'
import { configDir } from './private-file.ts'

const limitMs = 5_000
const limitBytes = 64 * 1024

/** Kills the command and every process that it started, which share its process group. */
const killGroup = (pid: number | undefined): void => {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}

/** What is wrong with the printed key, without its text. */
const problemOf = (key: string): string | undefined => {
  if (key === '') return 'printed nothing'
  if (/[\r\n]/.test(key)) return 'printed several lines'
  if (!/^[\x21-\x7e]*$/.test(key))
    return 'printed a space, a control or another character that is not allowed in a key'
  return key.length > 4096 ? 'printed more than 4,096 characters' : undefined
}

/**
 * The key that the command of a profile prints on stdout, without the final line break. Runs without a shell. After 5
 * seconds svc kills the command and everything that it started. The command runs in the folder of the profiles, because
 * the current folder can be a stranger's repository with programs and files of the same names.
 */
export const runCredentialCommand = (
  command: readonly string[],
  { profileName, field }: { profileName: string; field: string },
  io: Io,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const [file = '', ...args] = command
    const folder = configDir(io)
    const failed = (what: string, detail?: string) =>
      reject(
        new SvcError(
          'failed',
          'credential_command',
          `The ${field.replaceAll('_', ' ')} of profile "${profileName}", ${safeLine(file)}, ${what}`,
          {
            detail,
            hint:
              `It must print only the key, on one line. It runs in ${folder}: use absolute paths.\n` +
              `      Try it: ${safeLine(command.map(shellQuote).join(' '))}\n` +
              `      svc profile set ${shellQuote(profileName)} ${shellQuote(field)}='…' sets another command`,
          },
        ),
      )
    const child = spawn(file, args, {
      cwd: folder,
      env: withoutSecrets(io.env) as NodeJS.ProcessEnv,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = { stdout: '', stderr: '' }
    const end = (): void => {
      clearTimeout(timer)
      io.signal.removeEventListener('abort', interrupt)
      killGroup(child.pid)
      child.stdout.destroy()
      child.stderr.destroy()
    }
    const interrupt = (): void => {
      end()
      reject(interrupted())
    }
    const timer = setTimeout(() => {
      end()
      failed(`did not finish within ${limitMs / 1000} seconds`)
    }, limitMs)
    io.signal.addEventListener('abort', interrupt)
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
        if (output[name].length <= limitBytes) return
        end()
        failed(`printed more than ${limitBytes / 1024} KiB`)
      })
    child.on('error', (error: NodeJS.ErrnoException) => {
      end()
      failed(error.code === 'ENOENT' ? 'was not found' : `could not be run (${error.code ?? error.message})`)
    })
    child.on('close', (code, signal) => {
      end()
      const lastLine = output.stderr.trim().split('\n').at(-1)
      const key = output.stdout.trim()
      const wrong = code === 0 ? problemOf(key) : `ended with ${signal ?? `exit code ${code}`}`
      if (wrong === undefined) resolve(key)
      else failed(wrong, lastLine ? `It printed: ${safeLine(lastLine.slice(0, 200))}` : undefined)
    })
  })
