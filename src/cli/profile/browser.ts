import { spawn } from 'node:child_process'
import { type Env, withoutSecrets } from '../../core/env.ts'

const ofPlatform: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** The program that opens addresses; undefined on a machine without a screen. */
const openerOf = (env: Env): string[] | undefined => {
  if (env['BROWSER']) return [env['BROWSER']]
  const hasScreen = process.platform !== 'linux' || env['DISPLAY'] || env['WAYLAND_DISPLAY']
  return hasScreen ? (ofPlatform[process.platform] ?? ['xdg-open']) : undefined
}

/** Opens an address in the browser of this machine, without waiting for it. Returns whether there is one to try. */
export const openInBrowser = (url: string, env: Env): boolean => {
  const opener = openerOf(env)
  if (!opener) return false
  const [file, ...args] = opener
  const child = spawn(file!, [...args, url], { detached: true, stdio: 'ignore', env: withoutSecrets(env) })
  // The address is printed, too.
  child.on('error', () => undefined)
  child.unref()
  return true
}
