/** The theme of the portal, and commands with its address, to copy. */
(function () {
  let theme = null;
  try {
    theme = localStorage.getItem('theme');
  } catch {
    // Without storage, the system decides.
  }
  const system = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => {
    document.documentElement.classList.toggle('dark', theme ? theme === 'dark' : system.matches);
  };
  system.addEventListener('change', follow);
  follow();

  // A sandbox has the same packages, and most programs don't find its name on this machine.
  const origin = location.origin.replace(/\/\/[^.]+\.localhost\b/, '//localhost');

  addEventListener('DOMContentLoaded', () => {
    for (const command of document.querySelectorAll('.command')) {
      const code = command.querySelector('code');
      code.textContent = code.textContent.replaceAll('http://127.0.0.1:8080', origin);
      // Browsers offer it on secure origins only.
      if (navigator.clipboard) command.append(copyButton(code.textContent));
    }
  });

  function copyButton(text) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    });
    return button;
  }
})();
