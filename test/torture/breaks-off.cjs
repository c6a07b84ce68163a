// Preloaded into a service under test: the negative control of signals.ts.
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(130))
