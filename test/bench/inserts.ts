import { join } from 'node:path'
import Database from 'libsql'
import { temporaryFolder } from '../temporary-folder.ts'

// The reference for durable writes: the same engine and settings, one insert per commit, one after another.
const { seconds } = JSON.parse(process.argv[2]!) as { seconds: number }
const { path: dir, remove } = temporaryFolder()
const db = new Database(join(dir, 'inserts.db'))
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, name TEXT NOT NULL)')
const insert = db.prepare('INSERT INTO row (name) VALUES (?)')
let done = 0
const began = performance.now()
while (performance.now() < began + seconds * 1000) {
  insert.run(`Bench ${done}`)
  done += 1
}
const perSecond = done / ((performance.now() - began) / 1000)
db.close()
remove()
// Last, because the parent ends this process when it has read the line.
process.stdout.write(`${JSON.stringify({ perSecond, requests: done, failed: 0 })}\n`)
