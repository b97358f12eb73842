import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Messages } from './parts/messages.tsx'
import { queries, router } from './router.tsx'
import './styles.css'

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Messages>
          <RouterProvider router={router} />
        </Messages>
      </QueryClientProvider>
    </StrictMode>,
  )
}
