import 'mfe-kit/styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { queryClient, theme } from 'mfe-kit';
import { ThemeProvider } from 'mfe-kit/ui-data';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { MemoryRouter } from 'react-router';
import { Gallery } from './Gallery';

theme.start();

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root');
createRoot(root).render(
  <StrictMode>
    {/* The parts' links lead nowhere here. */}
    <MemoryRouter>
      <ThemeProvider>
        <QueryClientProvider client={queryClient}>
          <Gallery />
        </QueryClientProvider>
      </ThemeProvider>
    </MemoryRouter>
  </StrictMode>,
);
