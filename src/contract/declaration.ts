import * as z from 'zod/mini'
import type { Effect, Operation } from './operation.ts'

const effects = { GET: 'read', POST: 'write', PUT: 'write', DELETE: 'delete' } as const

/** The page calls what is below this path with a session, unless anybody may call it. No command does. */
const pagePath = '/svc/v1/approver/'

/** Method and path. */
type Route<Path extends string> = `${Operation['method']} ${Path}${string}`

/** An operation as the table declares it. The effect is stated only if it differs from that of the method. */
type Declaration = Omit<Operation, 'method' | 'path' | 'cli' | 'effect' | 'input'> & {
  effect?: Effect
  /** Nothing if left out. */
  input?: z.ZodMiniObject
} & ({ route: Route<'/'>; cli: string } | { route: Route<typeof pagePath> })

const nothing = z.strictObject({})

type WithSession<D extends Declaration> =
  D['route'] extends Route<typeof pagePath>
    ? D extends { open: true }
      ? unknown
      : { session: true }
    : unknown

type Declared<D extends Declaration> = WithSession<D> &
  Omit<D, 'route' | 'input'> & {
    method: D['route'] extends `${infer Method extends Operation['method']} ${string}` ? Method : never
    path: D['route'] extends `${string} ${infer Path}` ? Path : never
    cli: string
    effect: Effect
    input: D extends { input: infer I extends z.ZodMiniObject } ? I : typeof nothing
  }

type PathNames<P> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never

type WithPathValues<T extends Record<string, Declaration>> = {
  [K in keyof T]: PathNames<T[K]['route']> extends keyof z.infer<Declared<T[K]>['input']>
    ? T[K]
    : {
        input: `the input lacks ${Exclude<PathNames<T[K]['route']>, keyof z.infer<Declared<T[K]>['input']> & string>}`
      }
}

const declared = (id: string, { route, ...rest }: Declaration): Operation => {
  const [method, path] = route.split(' ') as [Operation['method'], string]
  const words = id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const ofPage = path.startsWith(pagePath) && { hidden: true, ...(!rest.open && { session: true }) }
  return {
    method,
    path,
    cli: `approver ${words}`,
    effect: effects[method],
    input: nothing,
    ...ofPage,
    ...rest,
  }
}

/** A table of operations. A `{name}` in a path that the input lacks does not compile. */
export const operations = <const T extends Record<string, Declaration>>(table: T & WithPathValues<T>) =>
  Object.fromEntries(Object.entries<Declaration>(table).map(([id, one]) => [id, declared(id, one)])) as {
    [K in keyof T]: Declared<T[K]>
  }
