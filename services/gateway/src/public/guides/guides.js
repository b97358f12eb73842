/** A button on each block of code that copies it. Without a secure address it selects the code instead. */
for (const block of document.querySelectorAll('pre')) {
  const code = block.textContent
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code)
      button.textContent = 'Copied'
    } catch {
      getSelection()?.selectAllChildren(block.querySelector('code') ?? block)
      button.textContent = 'Selected'
    }
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  frame.append(block, button)
}

const search = document.querySelector('input[type=search]')
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === search) return
  event.preventDefault()
  search.focus()
})
