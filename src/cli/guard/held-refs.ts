import {
  type Dirent,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { attempted } from '../../core/attempted.ts'
import { failure, type SvcError } from '../../core/errors.ts'
import { quoted } from '../../core/shell-quote.ts'
import { safeLine } from '../../core/safe-text.ts'

// Which refs a push changes: some lead to others, and some have the same name.

/**
 * `refs/heads/main` matches itself, and `refs/tags/*` everything below. What replaces an object changes each ref that leads to it.
 */
export const isHeld = (ref: string, patterns: readonly string[]): boolean =>
  ref.startsWith('refs/replace/') ||
  patterns.some((pattern) =>
    pattern.endsWith('/*') ? ref.startsWith(pattern.slice(0, -1)) : ref === pattern,
  )

/** Refs that one name can mean (gitrevisions): whoever makes another of them decides what a program gets that asks for the name. */
export const namesakes = (ref: string): string[] => {
  const name = ref.replace(/^refs\/(?:heads\/|tags\/|remotes\/)?/, '').replace(/\/HEAD$/, '')
  return ['', 'tags/', 'heads/', 'remotes/'].map((kind) => `refs/${kind}${name}`)
}

/** Whether a push to this ref also changes what the name of a held one means. `exists`: for those below `refs/tags/*`. */
export const shadows = (
  ref: string,
  patterns: readonly string[],
  exists: (ref: string) => boolean,
): boolean => namesakes(ref).some((one) => patterns.includes(one) || (isHeld(one, patterns) && exists(one)))

const unclear = (what: string, fix: string): SvcError =>
  failure('guard_refs', `${safeLine(what)}, so a push can change a held ref unseen: the push is refused`, fix)

/** The path without links in it, also of what does not exist yet. */
const realPath = (path: string): string => {
  const real = attempted(() => realpathSync(path))
  return real ?? join(realPath(dirname(path)), basename(path))
}

/** As git-check-ref-format, of a name below `refs` in UTF-8. */
const isRefName = (name: string): boolean =>
  /^refs(?:\/(?!\.)[^\0-\x20~^:?*[\\\x7f\ufffd/]+)+$/.test(name) && !/\.\.|@\{|\.lock(?:\/|$)|\.$/.test(name)

/** What a file below `refs` leads to; undefined if it is no symbolic ref, or gone meanwhile. */
const leadsTo = (repository: string, entry: Dirent): string | undefined => {
  const path = join(entry.parentPath, entry.name)
  if (path.includes('\ufffd'))
    throw unclear(`${path} has a name that is not UTF-8`, `git -C ${quoted(repository)} for-each-ref`)
  try {
    // git ends the name at a NUL byte.
    if (entry.isFile()) return /^ref:\s*([^\0]*)/.exec(readFileSync(path, 'utf8'))?.[1]?.trimEnd()
    if (!entry.isSymbolicLink()) return undefined
    if (attempted(() => statSync(path))?.isDirectory())
      throw unclear(`${path} is a link to a folder`, `Replace it by a folder: rm ${quoted(path)}`)
    const link = readlinkSync(path)
    // git takes it for the name of a ref, and follows any other in the file system.
    return isRefName(link) ? link : relative(repository, realPath(resolve(entry.parentPath, link)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Symbolic refs that git does not list: whose target does not exist, so that a push can create it, or that are links of files. */
const unlisted = (repository: string): [name: string, target: string][] => {
  const folder = join(repository, 'refs')
  if (realPath(folder) !== folder)
    throw unclear(`${folder} is a link to a folder`, `Replace it by a folder: rm ${quoted(folder)}`)
  if (existsSync(join(repository, 'reftable')))
    throw unclear(
      `The repository keeps its refs in another format than files`,
      `git -C ${quoted(repository)} refs migrate --ref-format=files`,
    )
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const target = leadsTo(repository, entry)
    const name = relative(repository, join(entry.parentPath, entry.name))
    return target === undefined ? [] : [[name, target]]
  })
}

/** These refs, and all that a held symbolic ref leads to: a push to that changes it, too. `listed`: lines `name target` of git. */
export const withTargets = (
  repository: string,
  refs: readonly string[],
  listed: readonly string[],
): string[] => {
  const links = [...listed.map((line) => line.split(' ')), ...unlisted(repository)]
  const all = [...refs]
  for (let before = 0; before < all.length;) {
    before = all.length
    for (const [name = '', target] of links) {
      if (!target || !isHeld(name, all) || all.includes(target)) continue
      // Such as HEAD, which leads further.
      if (!isRefName(target))
        throw unclear(
          `${name} leads to ${target}, which is no ref below refs`,
          `git -C ${quoted(repository)} symbolic-ref ${quoted(name)} refs/heads/NAME`,
        )
      all.push(target)
    }
  }
  return all
}
