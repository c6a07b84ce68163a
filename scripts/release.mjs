import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installed } from './bundled.mjs'

// Makes the two packages that people install from what the build made: the command line with the service, which depends on
// what is not bundled alone, and the library, which depends on nothing. Beside them are a bill of materials of each
// (CycloneDX 1.6), the notes of the version and the checksums.
//
//     node scripts/release.mjs [FOLDER]      default: release

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2] ?? join(root, 'release'))
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

const { name, version, description, license, engines } = readJson('package.json')
const lockfile = readJson('package-lock.json').packages
const bundled = readJson('dist/bundled.json')

const nameOf = (place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Where a package finds another one, as Node does. */
const placeFor = (needed, from) => {
  const nested = `${from}/node_modules/${needed}`
  return nested in lockfile ? nested : `node_modules/${needed}`
}

/** Packages with all that they depend on. */
const withDependencies = (places, seen = new Set()) => {
  for (const place of places) {
    if (seen.has(place)) continue
    seen.add(place)
    const needed = Object.keys(lockfile[place].dependencies ?? {})
    withDependencies(
      needed.map((one) => placeFor(one, place)),
      seen,
    )
  }
  return [...seen].sort()
}

const common = { version, license, private: true, type: 'commonjs', engines }
const packages = [
  {
    manifest: {
      name,
      ...common,
      description,
      bin: { svc: 'bin/svc.js' },
      exports: { './package.json': './package.json' },
    },
    files: ['bin', 'completions', 'README.md', 'dist'],
    // The library has its own package, and the list of what is bundled becomes the notices.
    without: ['dist/library', 'dist/bundled.json'],
    type: 'application',
    bundled: bundled.program,
    installed: withDependencies(installed.map((one) => `node_modules/${one}`)),
  },
  {
    manifest: {
      name: `${name}-library`,
      ...common,
      description: 'Ask for approvals, wait for them and verify receipts from a program',
      main: './svc.cjs',
      types: './svc.d.cts',
      exports: {
        '.': {
          import: { types: './svc.d.mts', default: './svc.mjs' },
          require: { types: './svc.d.cts', default: './svc.cjs' },
        },
        './package.json': './package.json',
      },
    },
    files: readdirSync(join(root, 'dist/library')).map((file) => `dist/library/${file}`),
    from: 'dist/library',
    without: [],
    type: 'library',
    bundled: bundled.library,
    installed: [],
  },
]

const rule = '-'.repeat(80)

/** The licence of each package whose code is in this one, in its own words. */
const notices = (places) =>
  [
    'This package contains code of the packages below, under their licences.',
    ...places.map((place) => {
      const texts = readdirSync(join(root, place)).filter((file) =>
        /^(?:licen[cs]e|copying|notice)/i.test(file),
      )
      const words = texts.map((file) => readFileSync(join(root, place, file), 'utf8').trim())
      const { author } = readJson(`${place}/package.json`)
      const by = typeof author === 'string' ? author : author?.name
      const title = `${nameOf(place)} ${lockfile[place].version}, ${lockfile[place].license}`
      return [rule, title, ...(words.length > 0 ? words : [`Copyright ${by ?? 'its authors'}`])].join('\n\n')
    }),
  ].join('\n\n') + '\n'

const purlOf = (of, at) => `pkg:npm/${of.replace('@', '%40')}@${at}`

const component = (place) => {
  const { version: at, license: words = 'NOASSERTION', integrity } = lockfile[place]
  const [algorithm, hash] = integrity.split(/-(.*)/)
  const isId = /^[\w.-]+$/.test(words)
  return {
    type: 'library',
    'bom-ref': `${purlOf(nameOf(place), at)}#${place}`,
    name: nameOf(place),
    version: at,
    purl: purlOf(nameOf(place), at),
    licenses: [isId ? { license: { id: words } } : { expression: words }],
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
  }
}

/** Source: CycloneDX 1.6, which ECMA-424 is. */
const billOfMaterials = ({ manifest, type, bundled: inside, installed: beside }) => {
  const components = [...new Set([...inside, ...beside])].map(component)
  const own = `${manifest.name}@${version}`
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type, 'bom-ref': own, name: manifest.name, version } },
    components,
    dependencies: [{ ref: own, dependsOn: components.map((one) => one['bom-ref']) }],
  }
}

/** What CHANGELOG.md says of this version. */
const notes = () => {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m)
  const own = sections.find((text) => text.startsWith(`## ${version}`))
  if (!own) throw new Error(`CHANGELOG.md has no section "## ${version}"`)
  return own
}

const made = notes()
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const names = []
for (const one of packages) {
  const { manifest, files, from, without, bundled: inside, installed: beside } = one
  const own = join(folder, manifest.name)
  mkdirSync(own)
  for (const file of files) {
    const to = from ? file.slice(from.length + 1) : file
    cpSync(join(root, file), join(own, to), { recursive: true })
  }
  for (const file of without) rmSync(join(own, file), { recursive: true })
  const dependencies = Object.fromEntries(beside.map((place) => [nameOf(place), lockfile[place].version]))
  writeFileSync(join(own, 'package.json'), `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`)
  writeFileSync(join(own, 'THIRD_PARTY_NOTICES.txt'), notices(inside))
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: own,
    encoding: 'utf8',
  }).trim()
  const bill = `${manifest.name}-${version}.cdx.json`
  writeFileSync(join(folder, bill), `${JSON.stringify(billOfMaterials(one), null, 2)}\n`)
  names.push(packed, bill)
}
writeFileSync(join(folder, 'NOTES.md'), made)
const sums = names.map((file) => {
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, file)))
    .digest('hex')
  return `${hash}  ${file}\n`
})
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
