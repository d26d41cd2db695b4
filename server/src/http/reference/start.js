const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

const url = new URL('/api/v1/openapi.json', location.href).href;
document.getElementById('command').textContent = `curl -sS -O ${url}`;
window.ui = SwaggerUIBundle({ url, dom_id: '#swagger-ui', deepLinking: true, tryItOutEnabled: true });
