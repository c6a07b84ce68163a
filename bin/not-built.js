'use strict'
const { join } = require('node:path')
process.stderr.write(`svc: svc is not built yet\nhint: npm ci --prefix ${join(__dirname, '..')}\n`)
process.exit(1)
