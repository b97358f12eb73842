import { appBridge } from '/app-bridge.js'

const bridge = appBridge(new URL(document.documentElement.dataset.platform).origin)
const find = (selector) => document.querySelector(selector)

try {
  const response = await bridge.fetch('/embed/payments')
  if (!response.ok) throw new Error(`the app answered ${response.status}`)
  const { workspace, payments } = await response.json()
  find('#workspace').textContent = workspace
  find('#status').textContent = payments.length === 0 ? 'No payments yet.' : ''
  find('table').hidden = payments.length === 0
  for (const { order, amountMinor, currency, isPaid } of payments) {
    const row = find('tbody').insertRow()
    for (const text of [order, `${amountMinor} ${currency} (minor units)`, isPaid ? 'paid' : 'open']) {
      row.insertCell().textContent = text
    }
  }
  bridge.ready()
} catch (error) {
  find('#status').textContent = error.message
}
