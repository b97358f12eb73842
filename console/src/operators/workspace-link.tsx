import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** The way to the page of a workspace, by its id. */
export const WorkspaceLink = ({ id, children = id }: { readonly id: string; readonly children?: ReactNode }) => (
  <Link to="/operators/workspaces/$workspace" params={{ workspace: id }}>
    {children}
  </Link>
)
