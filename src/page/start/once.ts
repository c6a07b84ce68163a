// The `further.js` of another version imports the `app.js` of that version, which must not start in this page.
const { dataset } = document.documentElement
if (dataset['started']) throw new Error('another version')
dataset['started'] = 'true'
