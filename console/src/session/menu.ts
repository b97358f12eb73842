import type { Scope } from '../../../libs/contracts/src/scopes.ts'

interface Entry {
  readonly to: string
  readonly title: string
}

/** The pages of a workspace, with what a session needs to see them. */
export const WORKSPACE_MENU: readonly (Entry & { readonly needs: Scope })[] = [
  { to: '/', title: 'Overview', needs: 'workspace::read' },
  { to: '/orders', title: 'Orders', needs: 'sale::read' },
  { to: '/imports', title: 'Imports', needs: 'import::read' },
  { to: '/products', title: 'Products', needs: 'product::read' },
  { to: '/collections', title: 'Collections', needs: 'product::read' },
  { to: '/customers', title: 'Customers', needs: 'customer::read' },
  { to: '/deliveries', title: 'Deliveries', needs: 'webhook::read' },
  { to: '/endpoints', title: 'Endpoints', needs: 'webhook::read' },
  { to: '/apps', title: 'Apps', needs: 'app::read' },
]

/** The pages of operators. */
export const OPERATOR_MENU: readonly Entry[] = [
  { to: '/operators/workspaces', title: 'Workspaces' },
  { to: '/operators/audit', title: 'Audit' },
  { to: '/operators/system', title: 'System' },
  { to: '/operators/leaks', title: 'Leaked keys' },
]
